"""What people write, as JSON or YAML, read as durable JSON with positions.

`source` is the way in; `positions` says where things stand in a text; `json_text` and `yaml_text` read one syntax each.
`schemas` writes the JSON Schemas for editors.
Nothing else of the model imports this package.
"""
