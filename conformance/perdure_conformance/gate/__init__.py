"""The compatibility gate: what changed from a released version to a later one, and whether that is allowed.

policy          every kind of change: compatible or breaking, and why; the one table
changes         one change: which kind, where, and in words
sources         both sides as they lie there: schemas, golden vectors, specifications; read within bounds
values          two values: whether they are equal, and where they differ first
nodes           one place of a JSON Schema: references followed, what stands together put together
schemas         two schemas: is what was valid still valid, and does it mean the same
limits          the limits of two schemas: numbers, lengths, counts, patterns
alternatives    the alternatives of two schemas, each with its partner
renames         what went while an alike one came
versions        schemas by name and version: what goes, and what a new version of events has to come with
answers         the golden vectors of both sides
specifications  workflow specifications: what a run that has begun refers to
referring       what stored histories refer to
comparison      both sides compared as a whole
replaying       stored histories on another implementation
telling         all of it in words, as JSON, and as workflow commands
"""
