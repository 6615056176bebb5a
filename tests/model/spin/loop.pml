/* A loop: `a` leads to `b` by two edges, one of them after a success alone, and `b` back to `a` when it asks for changes.
   `a` is activated twice at most, `b` three times. Written by hand from docs/spec/kernel.md, not from the model. */

#define PENDING 0
#define READY 1
#define RUNNING 2
#define CHANGES 3
#define SUCCEEDED 4
#define FAILED 5
#define BLOCKED 6
#define CANCELLED 7

#define GOING 0
#define MOST_A 2
#define MOST_B 3

byte result = GOING;
byte a = READY, b = PENDING;
byte times_a = 1, times_b = 0;
byte waits_a = 0, waits_b = 0;

#define live(n) (n == READY || n == RUNNING)

inline fire(n, times, waits, most) {
    if
    :: times == most -> skip
    :: times < most && live(n) -> times++; waits++
    :: times < most && !live(n) -> times++; n = READY
    fi
}

inline next(n, waits) {
    if
    :: !live(n) && waits > 0 -> waits--; n = READY
    :: else
    fi
}

#define told() c_code { if (now.result) printf("result %d\n", now.result); }

/* When nothing is live, nothing leads to a correction any more, and the run ends. */
inline close() {
    if
    :: live(a) || live(b) -> skip
    :: else ->
        if :: a == CHANGES -> a = FAILED :: else fi;
        if :: b == CHANGES -> b = FAILED :: else fi;
        if
        :: a == FAILED || b == FAILED -> result = 2
        :: else ->
            if
            :: a == BLOCKED || b == BLOCKED -> result = 3
            :: else -> if :: a == CANCELLED || b == CANCELLED -> result = 4 :: else -> result = 1 fi
            fi
        fi
    fi;
    told()
}

#define STARTS(n) :: d_step { result == GOING && n == READY -> n = RUNNING }

#define A_ENDS(status) \
    :: d_step { result == GOING && a == RUNNING -> a = status; fire(b, times_b, waits_b, MOST_B); \
        if :: status == SUCCEEDED -> fire(b, times_b, waits_b, MOST_B) :: else fi; next(a, waits_a); close() }

#define B_ENDS(status) \
    :: d_step { result == GOING && b == RUNNING -> b = status; \
        if :: status == CHANGES -> fire(a, times_a, waits_a, MOST_A) :: else fi; next(b, waits_b); close() }

active proctype system() {
end:
    do
    STARTS(a)
    STARTS(b)
    A_ENDS(SUCCEEDED) A_ENDS(CHANGES) A_ENDS(FAILED) A_ENDS(BLOCKED) A_ENDS(CANCELLED)
    B_ENDS(SUCCEEDED) B_ENDS(CHANGES) B_ENDS(FAILED) B_ENDS(BLOCKED) B_ENDS(CANCELLED)
    od
}
