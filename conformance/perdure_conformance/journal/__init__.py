"""The profile `journal`: what is sent, how it is judged, where the sequences of operations come from.

operations  the operations as data: what a case is made of
dispatch    what can be judged as a journal, and from messages to a Python journal
client      the contract over a connection
world       what must be true of the journal after the operations so far
clauses     the requirements, each as a guard and a property of one step
differences what had to come at a step, and what came
stored      the file formats as the judge knows them
play        plays operations against a target, and judges each answer
scripts     one short sequence for each rule, with its accepted twin; scripts_on_files, for those who claim a format
            and scripts_of_races, of what happens at the same time
written     all scripts
racing      a race: several handles at once, each on a thread
races       what came of a race, and what must be true of it
calls       its calls: who asked what, when, and what came; in words, and read back
linearizability whether some order of calls explains all their answers
machine     the stateful machine: sequences nobody thought of
effort      what it is told and tells
cases       a failing play as data: played again, and the ways to make it smaller
describe    operations in words
timeline    operations in lanes, for a picture
claims      what is claimed, what that brings, and the words for it
rules       what the tool itself decides about a journal, in one value
judge       all of it, as one judgement
registry    where broken and odd journals are registered
mutants     broken journals, which must be found; mutants_of_files and mutants_of_races are among them
twins       odd journals, which must pass
profile     the profile, as one value
"""
