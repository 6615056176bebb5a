"""Benchmarks: how time grows with size, measured side by side in one run. No test asserts on them.

growth          times at several sizes, and the exponent that fits them
specifications  large workflow specifications, of several shapes
"""
