"""What people and machines are told.

report      the report, as JSON
terminal    the verdicts, as a table, and what they add up to
failure     the folder of a failure: written, read, put in words
inert       foreign text made harmless
bounded     files read within a bound
reading     the folder of a report read back, and not believed
telling     what a report tells, whatever the format; difference and picture are parts of it
rendering   the formats: page, summary, junit, badge, github; commands are those of GitHub
comparison  two reports compared
"""
