"""The profile `reducer`: a graph kernel is asked about histories and commands, and its answers are judged.

contract    what a kernel is, for Python
reference   the model's kernel, as one; what a mutant replaces is a method of its own
views       a state as it is told
dispatch    from messages to a Python kernel
histories   what is asked: documents, events, commands and histories in few words
kept        what a journal keeps of a run: records, a snapshot, and one thing that is wrong
shown       what a journal shows, as a journal
playing     runs played by the model, to make histories of
questions   one question, and what an answer to it must be
blame       which requirement a difference breaks that nobody thought of
scenarios   for each requirement questions with the answers they must have, written by hand
golden      the golden vectors, as questions
drawn       runs and changed histories that nobody thought of
generated   histories of every version by the thousand, half of them damaged in one place
room        where questions are asked: an open kernel
cases       a failing question as data: asked again, and made smaller
shorter     shorter histories of the same kind
claims      what a kernel may claim, and the words for it
words       the kernel's words, as the page says them
rules       what the tool decides about a kernel, in one value
judge       all of it, as one judgement
registry    how broken and odd kernels are registered
mutants     broken kernels, which must be found
twins       odd kernels, which must pass
profile     all of it, as one value

A **scenario** is about one requirement: a few questions, what must be refused first, then its twin one edit away. It
stands in `scenarios/SUBJECT.py`, in a function that yields it and that `SCENARIOS` there names:

    run = Run(["A", node("B", "A")])                     # a document in few words, and a run of it
    run.run("A")                                         # start, end, advance, wait, accept, cancel, settle …
    yield scenario(
        "RUN-013",
        "two nodes with one attempt id",
        refused(run.past + started("B", 1)),             # at its last event; or `at=3`, `kind="incompatible"`
        accepted(run.past + started("B", 2)),            # and whole; or `unfinished(…)`
        rejects(run.past, start("B", 1), "attempt_id_used"),
        gives(run.past, start("B", 2), "NodeStarted B"),
    )

`run.past` is a `History`: `+` an event, `.plus(…)` several, `.until(n)`, `.without(n)`, `.but(n, deadline_ms=9)`,
`.instead(n, event)`, `.swapped(n)`, `.on(version)`, `.recorded_in(version, n)`. Attempts are numbered from 1 as they
start. `run.played(event)` is the history with an event and all that follows from it, and leaves the run as it is.
`accepted(past, {"/nodes/A/status": "failed"})` asks for a part of the state, if states are claimed.
`Run(…, version=2)` writes an older history, and `run.goes_on(5)` continues it.

`kept(run.past)` is what a journal keeps of a history: `.but(3, schema_version=9)` seals a record anew, `.saying(3,
edit)` does not, `.taken(4)` adds a snapshot. `restores(…)` and `refuses(…, 3)` say what is made of it.

The written answers are held against the model by a test; a kernel is judged by the model's answers, worked out once a
process. A difference breaks the requirement of its scenario if it is **to the point**: at or after the first event in
which its questions differ. A kernel that refuses what they have in common breaks something else; so put the edit where
the requirement is, and let the questions differ in nothing before. What is only told wrongly breaks another requirement
too: a wrong `whole` or `sequence` of a kernel that acts rightly (it is asked again to find out), a wrong kind, an
unknown code, a version, events of a command that the kernel itself would not accept.

A **mutant** is a class, in `mutants/SUBJECT.py`: `ReferenceKernel` with `rules = replace(RULES, …)`, or with another
`read`, `after`, `step`, `owed`, `choose`, `document`, `told` or `answered`; `faults.py` has those that forgive.
What is beside the point is asked again without a requirement if nothing was found; what is drawn, only then. Both are
blamed as near as `blame` can tell, since what is known to be broken would be found again, by other names.
"""
