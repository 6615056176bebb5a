"""Benchmarks: how time grows with size, measured side by side in one run. No test asserts on them.

growth          times at several sizes, and the exponent that fits them
specifications  large workflow specifications, of several shapes
runs            whole runs of them, and of others that wake other rules
loading         from stored records to a state: what each check costs
journals        the journal on SQLite: how load and verification grow, what memory they take, what an append costs
bare            two small systems, searched without the model
exploring       how fast the kernel explores them
"""
