"""The golden vectors, as the model writes them: inputs, each with the one answer that every release must give.

tours       a history for each type of event of each version, and for each mix of versions
chosen      which of the suite's scenarios and pairs are vectors too
kernels     vectors of histories and commands
documents   vectors of specifications
values      vectors of JSON texts, digests, jitter and upcasts
files       vectors of stored histories and snapshots, good and damaged
collection  all of them
coverage    what has to have a vector, held against what has one
export      all of them, for other languages

The model writes them, people read what it wrote, and then they are frozen: they stand in `fixtures/`, and a difference
between them and what the model would write is a change of meaning, or a fault.
"""
