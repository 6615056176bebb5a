"""The JSON Schemas that are made from types: `python -m perdure.authoring.schemas schemas`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path  # noqa: TID251 - a script that writes files
from typing import Final

from perdure.kernel.caches import SnapshotDocument
from perdure.kernel.commands import AnyCommand, Rejection
from perdure.kernel.outcomes import Outcome
from perdure.kernel.records import VERSIONS, StoredRecord
from perdure.kernel.snapshots import StateDocument
from perdure.kernel.specification import HandlerCatalogue, Specification
from perdure.kernel.structure import LATEST, json_schema
from perdure.kernel.values import JsonObject

_KINDS: Final[tuple[tuple[str, object, str, int], ...]] = (
    ("specification-1", Specification, "A workflow specification", LATEST),
    ("outcome-1", Outcome, "An outcome", LATEST),
    ("handlers-1", HandlerCatalogue, "A catalogue of handlers", LATEST),
    *((f"event-{version}", kind, f"An event of version {version}", version) for version, kind in VERSIONS.items()),
    ("record-1", StoredRecord, "A record: an event at its place, as it is stored", LATEST),
    ("command-1", AnyCommand, "A command", LATEST),
    ("rejection-1", Rejection, "A rejection: why a command gives no events", LATEST),
    ("state-2", StateDocument, "A state of a run between two batches", LATEST),
    ("snapshot-1", SnapshotDocument, "A snapshot: a state, tied to the record that it includes last", LATEST),
)

SCHEMAS: Final[Mapping[str, JsonObject]] = {
    name: json_schema(kind, identity=f"urn:perdure:{name}", title=title, version=version)
    for name, kind, title, version in _KINDS
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
