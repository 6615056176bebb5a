"""What `perdure explain` says of members and words, and that the page says the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.conformance.helpers import perdure

from perdure.kernel.outcomes import OUTCOME_KINDS
from perdure.kernel.specification import Specification
from perdure.kernel.structure import Place, places
from perdure_conformance import data, members
from perdure_conformance.cli.explain import rules_of_yaml
from perdure_conformance.requirements import codes

PAGE = (data.specification() / "specification.md").read_text("utf-8")
WORDS = [
    *OUTCOME_KINDS,
    *("all_succeeded", "all_completed", "any_succeeded"),
    *("propagate", "require_success", "parallel", "exclusive", "cascade"),
    *("any", "immediate", "fixed", "exponential"),
]


def test_the_page_has_the_table_that_the_types_give() -> None:
    assert members.table() in PAGE, "python -m perdure_conformance.members prints the table"


def test_the_tables_of_values_list_every_member() -> None:
    tables = PAGE.partition("## What the members do")[0]
    own = {place.path.rpartition(".")[2] for place in places(Specification)}
    assert {name for name in own if f"`{name}`" not in tables and f'"{name}"' not in tables} == set()


def test_the_table_names_each_member_of_a_document_once() -> None:
    rows = [line.split("`")[1] for line in members.table().splitlines()[2:]]
    assert len(rows) == len(set(rows))
    assert {"schema_version", "nodes[].retry.backoff.delay_ms", "edges[].when.equals", "budgets"} <= set(rows)
    assert rows[0] == "schema_version"


@pytest.mark.parametrize("word", WORDS)
def test_every_word_is_explained(word: str) -> None:
    found = members.words_called(word)
    assert found
    assert all(each.does.endswith(".") and each.of and each.places for each in found)


@pytest.mark.parametrize("place", list(places(Specification)), ids=lambda place: place.path)
def test_every_member_is_explained_by_its_path(place: Place) -> None:
    found = members.members_called(place.path)
    assert any(where.path == place.path for member in found for where in member.places)
    assert all(member.shape and member.does for member in found)


def test_the_end_of_a_path_chooses_among_members_of_one_name() -> None:
    assert {member.default for member in members.members_called("max_attempts")} == {3, 10_000}
    (of_a_retry,) = members.members_called("retry.max_attempts")
    assert of_a_retry.default == 3
    assert members.members_called("attempts") == []


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("max_activations", "an integer from 1 to 2^53−1"),
        ("schema_version", "an integer from 1 to 5"),
        ("seed", "a string of 0 to 128 characters"),
        ("$schema", "a string"),
        ("sha256", "a string of the form [0-9a-f]{64}"),
        ("mode", "`parallel` or `exclusive`"),
        ("equals", "null, true, false, a number or a string"),
        ("nodes.input", "an object, any JSON"),
        ("retry.classes", "an array; each item: `succeeded` or"),
        (
            "evidence",
            "an array of at most 32; each item: an object with `artifact_id`, `byte_length`, `sha256` and perhaps",
        ),
        ("nodes", "an array of at least 1; each item: an object with `id` and perhaps `handler`"),
        ("child.outputs", "an object; each key: a string of the form [A-Za-z_]"),
        ("when", "`any`, or an object with `outcome`, or an object with `field`, `equals`"),
        ("backoff", "an object with `kind` `immediate`, or an object with `kind` `fixed`, `delay_ms`"),
        ("budgets", "an object with perhaps `max_attempts`, `max_transitions`"),
    ],
)
def test_a_shape_is_told_in_words(path: str, shape: str) -> None:
    found = members.members_called(path)
    assert found
    assert all(member.shape.startswith(shape) for member in found)


def test_any_json_is_told_as_such() -> None:
    assert "any JSON" in {member.shape for member in members.members_called("output")}


def explained(word: str, folder: Path) -> str:
    return perdure("explain", word, cwd=folder).stdout


def test_explain_tells_of_a_member_what_it_does_its_shape_default_and_places(tmp_path: Path) -> None:
    told = explained("Retry.max_attempts", tmp_path)
    assert "Limits the attempts of one activation" in told
    assert "shape     an integer from 1 to 2^53−1" in told
    assert "default   3" in told
    assert "place     nodes[].retry.max_attempts of a specification, from schema_version 4 on" in told
    assert "default   none: it is required" in explained("delay_ms", tmp_path)
    assert "default   none: it may be absent" in explained("jitter", tmp_path)
    assert "place     handlers[].inputs of a catalogue of handlers\n" in explained("inputs", tmp_path)


def test_explain_tells_of_a_word_what_it_does_and_where(tmp_path: Path) -> None:
    told = explained("propagate", tmp_path)
    assert "A word: The node ends as the child run did" in told
    assert "of        policy: Says what becomes of the node" in told
    assert "place     nodes[].child.policy of a specification, from schema_version 3 on" in told
    assert "place     kind of an outcome\n" in explained("SUCCEEDED", tmp_path)


def test_explain_tells_all_that_a_word_is_and_also_as_json(tmp_path: Path) -> None:
    told = json.loads(perdure("explain", "initial_nodes", "--json", cwd=tmp_path).stdout)
    assert told["meaning"].startswith("The initial nodes")
    assert [member["default"] for member in told["members"]] == [None]
    assert told["words"] == []
    of_a_word = json.loads(perdure("explain", "any_succeeded", "--json", cwd=tmp_path).stdout)
    assert of_a_word["words"][0]["places"][0] == {
        "document": "specification",
        "path": "nodes[].dependency_policy",
        "since": 2,
    }


def test_explain_suggests_the_nearest_member_or_word(tmp_path: Path) -> None:
    for wrong, right in (
        ("propogate", "propagate"),
        ("dependancies", "dependencies"),
        ("any_suceeded", "any_succeeded"),
    ):
        done = perdure("explain", wrong, cwd=tmp_path)
        assert done.returncode == 2
        assert right in done.stderr


def test_explain_tells_the_rule_of_yaml_and_why_it_is_there(tmp_path: Path) -> None:
    assert list(rules_of_yaml()) == [code for code in codes() if "yaml" in code]
    assert all(meaning.count(".") >= 2 for meaning in rules_of_yaml().values())
    told = json.loads(perdure("explain", "yaml_alias", "--json", cwd=tmp_path).stdout)
    assert told["requirement"]["id"] == "SPC-001"
    assert told["meaning"] == rules_of_yaml()["yaml_alias"]
