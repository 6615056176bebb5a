"""What `verify`, `inspect` and `diff` do with stored histories.

stored        records as they are stored, where they stand, and what is wrong around them
files         opened, known by their content, and read record by record within bounds
lines         JSON lines, and the tail that a killed writer leaves
framed        MWJ1 and MWS1
databases     the database of a journal, read without a change to anything
walk          folded record by record, with what was owed where it went wrong
checks        the kinds of check, and which codes are whose
verification  what was checked, what was not, and whether the end is the end
snapshots     a snapshot in a file of its own
sealing       events of a run as the records that a journal stores
conversion    written in another format, byte for byte
inspection    what a state amounts to, what is due, and what may be done next
difference    where two histories part, identities apart
words         events in words, as lines with columns
"""
