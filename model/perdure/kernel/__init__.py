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
"""
