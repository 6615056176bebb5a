"""The JSON Schemas of what people write, made from its types: `python -m perdure.authoring.schemas schemas`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path  # noqa: TID251 - a script that writes files
from typing import Final

from perdure.kernel.outcomes import Outcome
from perdure.kernel.specification import HandlerCatalogue, Specification
from perdure.kernel.structure import json_schema
from perdure.kernel.values import JsonObject

SCHEMAS: Final[Mapping[str, JsonObject]] = {
    name: json_schema(kind, identity=f"urn:perdure:{name}", title=title)
    for name, kind, title in (
        ("specification-1", Specification, "A workflow specification"),
        ("outcome-1", Outcome, "An outcome"),
        ("handlers-1", HandlerCatalogue, "A catalogue of handlers"),
    )
}
"""Each schema by its name, which is that of its file."""


def text_of(schema: JsonObject) -> str:
    """Return the text of a schema's file."""
    return json.dumps(schema, indent=2) + "\n"


def main(folder: Path) -> None:
    """Write each schema to its file."""
    for name, schema in SCHEMAS.items():
        (folder / f"{name}.json").write_text(text_of(schema), "utf-8")


if __name__ == "__main__":  # pragma: no cover
    main(Path(sys.argv[1]))
