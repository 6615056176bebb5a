"""The crash and fault engine: any implementation, uninstrumented, crashed at every window.

- `trace`      what a program did to the files of its state directory, call by call
- `recording`  how a program is run so that it is known, and what was seen
- `tracer`     the program that stands between: `ptrace` stops threads at system calls, `recorder` knows what they do,
               and asks a `system` about them
- `by_strace`  the program strace in its place: `strace` reads what it prints, `retold` tells it to the recorder, which
               asks `shadow`; `effects` says what each call does to that
- `replay`     one line that plays a finding again
- `workload`   what is asked of a journal that is to be crashed
- `judge`      what must be there after a crash, and whether it is
- `disk`       what a disk may hold after a crash, by level
- `states`     the crashes that are tried, and how one that finds a fault is made smaller
- `recovery`   how states are put before a journal, one after the other
- `blame`      which call is to blame
- `windows`    layer 1: kills and errors at every call, in recoveries too
- `power`      layer 2: power cuts, from one recording, which `record` makes
- `campaign`   all layers over one journal, and the verdicts
- `deviations` a power cut as words of a replay
- `cases`      a finding as a case, which is judged again without recording; `bundle` packs what the crash has left
- `findings`   the layers by name, and one wrong recovery, whichever of them found it
- `of_files`, `of_servers`, `of_clients`   what one command tries at a journal, and what comes of it as a judgement
- `profile`    all of that as a profile: verdicts, levels, what is not covered
- `journals`   two small good journals; `mutants` are made of them
- `proxy`      what stands between a client and its server: messages that are lost, cut off or late
- `servers`    the server behind a journal, started, killed and started again
- `network`    the connection disturbed at every message, and the server killed at drawn ones
- `baton`      clients on threads, of which one runs at a time
- `shim`       what a Python journal calls of `os` and `open`, recorded, each call a place to switch at
- `scheduling` layer 4: schedules of several clients, crashed
- `several`    two good journals for several handles, and mutants of them
"""
