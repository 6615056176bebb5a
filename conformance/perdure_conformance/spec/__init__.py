"""The profile `spec`: a validator of workflow specifications is sent documents, and its answers are judged.

contract    what a validator is, for Python
reference   the model's validator, as one
dispatch    from messages to a Python validator
documents   documents to ask about: texts, compact where they are long
places      places in a value: what is there, and the value with something else there
pairs       for each rule documents that break it, each with its accepted twin one edit away
drawn       documents and edits of them that nobody thought of
questions   one document, and what an answer to it must be
room        where questions are asked: an open validator
cases       a failing question as data: asked again, and made smaller
claims      what a validator may claim, and the words for it
rules       what the tool decides about a validator, in one value
judge       all of it, as one judgement
registry    how broken and odd validators are registered
mutants     broken validators, which must be found
twins       odd validators, which must pass
profile     all of it, as one value
"""
