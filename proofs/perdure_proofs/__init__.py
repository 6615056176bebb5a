"""Proofs: what testing cannot show, about the rules of the model as they are coded.

`symbols` runs a function of the model on values that stand for all, `theorems` says what a theorem is, `proving` proves
it, compares it with Python, and refutes its mutants. Every other module is one theorem, in the folder of its subject.
"""
