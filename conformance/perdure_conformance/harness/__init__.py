"""The harness: how an implementation is reached, in process or as a program that speaks the wire protocol.

targets     a name, `module:factory` or a command, and how to open it; what can be judged as a profile
connection  one open implementation: request in, checked result out
local       a connection to a Python object, on a thread of its own
process     a connection to a program, over its standard input and output
starting    why a program did not start, in words
messages    the lines of the protocol, and their limits
schemas     what each message may be, checked in both directions
problems    what is wrong with a message that may not be
factories   Python objects by name
dispatch    what turns messages into calls of a Python object
serve       the other side: a Python object as a program
transcript  what was said
"""
