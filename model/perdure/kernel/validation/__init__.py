"""The validator of workflow specifications.

validator   the whole: structure, then rules, then warnings
scopes      one workflow under validation: its nodes by name, its graphs
nodes       rules about nodes, and where a run begins
data        rules about the data between nodes, and retries
edges       rules about edges
children    rules about calls of children, and the catalog
handlers    rules about the handlers that an application registers
advice      warnings
foresight   warnings of what no run can bring about
"""
