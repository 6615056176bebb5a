"""What people and machines are told.

report      the report, as JSON
terminal    the verdicts, as a table, and what they add up to
failure     the folder of a failure: written, read, put in words
inert       foreign text made harmless
"""
