"""What `verify`, `inspect` and `diff` do with stored histories.

files         opened, and read line by line within bounds
walk          folded record by record, with what was owed where it went wrong
verification  what was checked, what was not, and whether the end is the end
inspection    what a state amounts to, what is due, and what may be done next
difference    where two histories part, identities apart
words         events in words, as lines with columns
"""
