"""The pure kernel: no clock, no randomness, no input or output, no framework.

values         durable JSON: read, written in canonical form, digested
identity       durable identities and their grammars
problems       what is wrong with a document, where, and how to mend it
structure      what a document may look like, as annotated types: decoder and JSON Schema
outcomes       how an attempt can end
predicates     which outcomes an edge follows, and whether two of them can follow the same one
specification  the workflow specification, as types
graphs         cycles, reach, and what a node is always reached through
validation     the validator: rules and warnings
events         the facts of a history, by version
commands       what may be asked of a run, and the answers that are no events
plan           what a specification means to its run, worked out once
queues         persistent priority queues
state          what a history amounts to
rules          every rule that is a finite function: tables and leaves
liveness       what a change of one node means to the others
closing        what becomes of nodes that nothing will ever activate
mapping        what is copied into a node, from a child, out of a run
consequences   what a state owes next, and in which order
creation       the first state of a run
legality       which events may open a batch
upcast         older events in the words of the newest version
changes        what an event that is legal changes
reduce         whether an event is legal where it stands, and the state after it
decide         the events of a command
limits         what no schema can say: sizes in bytes
records        an event at its place, sealed, as it is stored
histories      records one after the other, every batch whole
invariants     what holds of every state between two batches
snapshots      the state between two batches as a document, and back
caches         the document of a snapshot: such a state, tied to its record; and how a run goes on from it
errors         what is said of a history that cannot be
"""
