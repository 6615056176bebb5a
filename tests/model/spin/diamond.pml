/* A diamond: `first`, two branches that depend on it and are tried again once, and `last`, which any of them releases.
   The run may use four attempts. Written by hand from docs/spec/kernel.md, not from the model. */

#define PENDING 0
#define READY 1
#define RUNNING 2
#define CHANGES 3
#define SUCCEEDED 4
#define FAILED 5
#define BLOCKED 6
#define CANCELLED 7
#define SKIPPED 8

#define GOING 0
#define BUDGET 5
#define LIMIT 4

byte result = GOING, used = 0;
byte first = READY, one = PENDING, two = PENDING, last = PENDING;
byte tries_of_one = 0, tries_of_two = 0;

#define propagated(b) (first == SUCCEEDED -> READY : (first == BLOCKED || first == CANCELLED -> first : SKIPPED))

#define told() c_code { if (now.result) printf("result %d\n", now.result); }

/* What a node that ended means to those that wait, and to the run. */
inline settle() {
    if
    :: first >= SUCCEEDED && one == PENDING -> one = propagated(one)
    :: else
    fi;
    if
    :: first >= SUCCEEDED && two == PENDING -> two = propagated(two)
    :: else
    fi;
    if
    :: last == PENDING && (one == SUCCEEDED || two == SUCCEEDED) -> last = READY
    :: last == PENDING && one > SUCCEEDED && two > SUCCEEDED ->
        last = (one == CANCELLED || two == CANCELLED -> CANCELLED : (one == BLOCKED || two == BLOCKED -> BLOCKED : SKIPPED))
    :: last == CHANGES && one >= SUCCEEDED && two >= SUCCEEDED -> last = FAILED
    :: else
    fi;
    if
    :: first < SUCCEEDED || one < SUCCEEDED || two < SUCCEEDED || last < SUCCEEDED -> skip
    :: else ->
        if
        :: first == FAILED || one == FAILED || two == FAILED || last == FAILED -> result = 2
        :: else ->
            if
            :: first == BLOCKED || one == BLOCKED || two == BLOCKED || last == BLOCKED -> result = 3
            :: else ->
                if
                :: first == CANCELLED || one == CANCELLED || two == CANCELLED || last == CANCELLED -> result = 4
                :: else -> result = 1
                fi
            fi
        fi
    fi;
    told()
}

#define STARTS(n, count) \
    :: d_step { result == GOING && n == READY && used < LIMIT -> n = RUNNING; used++; count } \
    :: d_step { result == GOING && n == READY && used == LIMIT -> result = BUDGET; told() }

#define ENDS(n, status, count) \
    :: d_step { result == GOING && n == RUNNING -> n = status; count; settle() }

/* Nothing leads to a correction: what asks for changes has failed, but `last` may wait for one while a branch is live. */
#define ENDS_SOMEHOW(n, count) \
    ENDS(n, SUCCEEDED, count) ENDS(n, FAILED, count) ENDS(n, BLOCKED, count) ENDS(n, CANCELLED, count)

#define TRIED_AGAIN(n, tries) \
    :: d_step { result == GOING && n == RUNNING && tries < 2 -> n = READY }

active proctype system() {
end:
    do
    STARTS(first, skip)
    ENDS_SOMEHOW(first, skip)
    STARTS(one, tries_of_one++)
    ENDS_SOMEHOW(one, tries_of_one = 0)
    TRIED_AGAIN(one, tries_of_one)
    STARTS(two, tries_of_two++)
    ENDS_SOMEHOW(two, tries_of_two = 0)
    TRIED_AGAIN(two, tries_of_two)
    STARTS(last, skip)
    ENDS_SOMEHOW(last, skip)
    ENDS(last, CHANGES, skip)
    od
}
