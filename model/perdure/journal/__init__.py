"""The journal: an append-only, compare-and-append history of records for each run.

`contract` says what a journal is, `reference` is the sequential truth; every other module is one implementation.
"""
