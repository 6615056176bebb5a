"""The tool judged: `TOL-` requirements, checks of them, and mutants of the tool that the checks must find.

trial       what is on trial: a tool, and one with a fault
miniatures  tiny adapters that misbehave, each in one way
samples     stored histories, with every kind of record, and files of them, sound or not
frozen      golden vectors, and folders of them that differ
checks      what the tool promises, tried on miniatures, mutants, odd twins, samples and vectors
folders     folders of reports, with any text wherever one may stand
renderings  what the renderings of reports promise, and how that is seen
released    a small release, as one value, and its folder
planted     changes of that release, each breaking one beside a compatible twin
gating      what the compatibility gate promises, and how that is seen
explorations  what explorations promise, and specifications of which it is known what is possible
mutants     tools that are wrong, each in one way
mutants_of_gates  those whose compatibility gate is wrong
mutants_of_explorations  those whose exploration is wrong
mutants_of_reports  those whose renderings are wrong
selftest    the kill matrix of the tool
"""
