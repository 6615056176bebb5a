"""Histories for tests: the command line in this process, runs of small workflows, records tampered with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from tests.conformance.helpers import ROOT
from typer.testing import CliRunner, Result

from perdure.kernel.values import canonical_json, digest
from perdure_conformance import data
from perdure_conformance.cli import command_line

REVIEW_LOOP = str(ROOT / "docs/examples/review-loop.yaml")


def run(*words: str) -> Result:
    """Run the command line in this process; only an exit ends it, and what it tells machines keeps its schema."""
    done = CliRunner().invoke(command_line(words), list(words))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    if words[0] in PRINTED and "--json" in words and done.stdout:
        schema_of(words[0]).validate(json.loads(done.stdout))
    return done


PRINTED = ("verify", "inspect", "explore")
"""The commands whose JSON document has a schema."""


@cache
def schema_of(command: str) -> Draft202012Validator:
    """Return the schema of what a command prints."""
    return Draft202012Validator(json.loads((data.schemas() / f"{command}-1.json").read_text("utf-8")))


def simulated(folder: Path, document: dict[str, Any], *words: str, script: Sequence[Any] = ()) -> dict[str, Any]:
    """Simulate a document, and return the JSON document that comes."""
    done = simulate(folder, document, *words, "--json", script=script)
    assert not done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["exit_code"] == done.exit_code
    return found


def simulate(folder: Path, document: dict[str, Any], *words: str, script: Sequence[Any] = ()) -> Result:
    """Simulate a document, with a script if there is one."""
    (folder / "spec.json").write_text(json.dumps(document), "utf-8")
    more: list[str] = []
    if script:
        (folder / "script.json").write_text(json.dumps(script), "utf-8")
        more = ["--script", str(folder / "script.json")]
    return run("simulate", str(folder / "spec.json"), *more, *words)


def events(found: dict[str, Any]) -> list[str]:
    """Return the events of a simulation in short."""
    return [short(each["event"]) for batch in found["batches"] for each in batch["events"]]


def short(event: dict[str, Any]) -> str:
    """Return an event in short."""
    parts = [event["type"], event.get("node") or event.get("source") or event.get("budget") or ""]
    parts += [event["outcome"]["kind"] if "outcome" in event else event.get("cause", "")]
    return " ".join(part for part in parts if part)


def statuses(found: dict[str, Any]) -> dict[str, str]:
    """Return the status of each node."""
    return {node["node"]: node["status"] for node in found["state"]["nodes"]}


def history_of(folder: Path, name: str, *words: str) -> list[bytes]:
    """Simulate the review loop, and return the lines of its records."""
    path = folder / name
    assert run("simulate", REVIEW_LOOP, "--output", str(path), *words).exit_code == 0
    return path.read_bytes().splitlines()


def resealed(line: bytes, **changes: Any) -> bytes:
    """Return a record with other members, sealed anew."""
    value = {**json.loads(line), **changes}
    del value["checksum"]
    return canonical_json({**value, "checksum": digest(value)})
