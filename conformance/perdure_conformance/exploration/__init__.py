"""What `perdure explore` does: every state that runs of a specification can reach, and shortest ways to what matters.

moves        what may happen next in a state, as steps of a script and as commands
canonical    what decides what can happen after a state: its key
independent  which moves commute with all that others may do
search       from state to state, cheapest first, within bounds
usage        whether a budget can be used up: cycles and longest ways through the states
exploring    searches put together: what is reached, what is not, and what is not known
witnesses    the way to something as a script, played again
results      what was found, as words and as JSON
pictures     the graph, with what no run reaches
"""
