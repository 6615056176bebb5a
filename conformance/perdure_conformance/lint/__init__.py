"""What `perdure lint` does with workflow specifications and catalogues of handlers.

`files` reads and replaces them within bounds. `findings` lints one: its problems, each with its place and requirement.
`text`, `document`, `sarif` and `github` write findings, one format each. `fixes` applies the corrections that problems
carry, in the text itself; `patch` shows what they change. `drawing` is what a picture shows; `mermaid` writes it, and
`svg` draws what `layout` placed.
"""
