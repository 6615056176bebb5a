"""The crash and fault engine: any implementation, uninstrumented, crashed at every window.

- `trace`      what a program did to the files of its state directory, call by call
- `judge`      what must be there after a crash, and whether it is
"""
