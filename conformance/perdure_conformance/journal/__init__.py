"""The profile `journal`: what is sent, how it is judged, where the sequences of operations come from.

operations  the operations as data: what a case is made of
client      the contract over a connection
world       what must be true of the journal after the operations so far
clauses     the requirements, each as a guard and a property of one step
play        plays operations against a target, and judges each answer
scripts     one short sequence for each rule, with its accepted twin
machine     the stateful machine: sequences nobody thought of
shrink      smaller cases that fail the same way
profile     all of it, as one check
mutants, twins   broken journals that must be found, odd ones that must pass
"""
