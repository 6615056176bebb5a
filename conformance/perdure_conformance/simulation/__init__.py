"""What `perdure simulate` does: a run, played without an implementation, a clock or chance.

identities  from a seed, the same each time
outcomes    what --outcome says, node by node, and what a node gives if nothing is said
inputs      what --input says
steps       the steps of a script, as types, and how one is read
player      a run that is played: commands, batches, and what comes by itself
scripts     the steps of a script, done one after the other
pictures    the graph as it ended
results     how a run ended, as words and as JSON
"""
