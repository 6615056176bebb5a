"""Workflow specifications of both sides: a run pins the version that it began with, and refers to its nodes.

Under one `workflow_version` a document stays as it is, but for what its hash does not cover and how it is laid out. A
later version may say anything; but if the one before is gone, histories may refer to nodes that are gone with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from perdure.kernel.problems import pointer_token
from perdure.kernel.specification import covered_by_hash
from perdure.kernel.validation.validator import validate
from perdure.kernel.values import JsonObject, JsonValue, canonical_json, digest
from perdure_conformance.gate.changes import Change
from perdure_conformance.gate.policy import Code
from perdure_conformance.gate.referring import Reference
from perdure_conformance.gate.renames import likely_renames
from perdure_conformance.gate.sources import Document, GateRefused
from perdure_conformance.gate.values import equal
from perdure_conformance.histories.words import value_in_words

Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Workflow:
    """One version of one workflow: a document, or a definition in one."""

    owner: str
    """The workflow of the document that has it."""
    owner_version: int
    name: str
    version: int
    file: str
    pointer: str
    content: JsonObject

    @property
    def key(self) -> Key:
        """By what it is paired with one of the other side."""
        return self.owner, self.name, self.version

    @property
    def nodes(self) -> dict[str, JsonObject]:
        """Its nodes, by their names."""
        listed = self.content["nodes"]
        assert isinstance(listed, Sequence)
        return {str(node["id"]): node for node in listed if isinstance(node, Mapping)}

    def at(self, pointer: str) -> str:
        """Return the place of a member, in its file."""
        return self.pointer + pointer

    def place(self, node: str) -> str:
        """Return the place of a node, in its file."""
        return self.at(f"/nodes/{list(self.nodes).index(node)}")


def compared_specifications(
    old: Sequence[Document], new: Sequence[Document], references: Sequence[Reference] | None
) -> Iterator[Change]:
    """Yield the changes from specifications to others; `references` are those of stored histories, if there are any.

    What was not valid is not compared.
    """
    refused = {str(each.value["workflow_id"]): each for each in new if not is_compared(each)}
    before, later = _workflows(old), _workflows(new)
    after = {one.key: one for one in reversed(later)}
    in_its_document = {(one.owner_version, one.key): one for one in later}
    gone = {one.owner for one in before} - {one.owner for one in later}
    for one in before:
        other = in_its_document.get((one.owner_version, one.key), after.get(one.key))
        if one.owner in gone:
            if one.name == one.owner and one.pointer == "":
                yield from _without_owner(one, refused.get(one.owner), references)
        elif other is not None:
            yield from _in_place(one, other, references)
        else:
            yield from _replaced(one, _later(one, after), references)
    yield from _new({one.key: one for one in before}, after)


def is_compared(document: Document) -> bool:
    """Tell whether a specification is valid, so that a run of it may have begun."""
    return validate(document.value).valid


def _workflows(documents: Sequence[Document]) -> list[Workflow]:
    """Return what is in valid documents; of a version that stands in several, what stands in the first."""
    found: dict[tuple[str, int], Document] = {}
    for document in filter(is_compared, documents):
        key = str(document.value["workflow_id"]), _integer(document.value["workflow_version"])
        first = found.setdefault(key, document)
        if _hash(first.value) != _hash(document.value):
            told = f"{first.file} and {document.file} are both {key[0]}@{key[1]}, and say something else"
            raise GateRefused(f"{told}: leave one out.")
    return [each for document in found.values() for each in _within(document)]


def _within(document: Document) -> Iterator[Workflow]:
    value = document.value
    owner, version = str(value["workflow_id"]), _integer(value["workflow_version"])
    children = value.get("children", {})
    assert isinstance(children, Mapping)
    own = {name: sorted(children) if name == "children" else member for name, member in value.items()}
    yield Workflow(owner, version, owner, version, document.file, "", own)
    for key, child in children.items():
        name, _, number = key.rpartition("@")
        assert isinstance(child, Mapping)
        yield Workflow(owner, version, name, int(number), document.file, f"/children/{pointer_token(key)}", child)


def _integer(value: JsonValue) -> int:
    assert isinstance(value, int)
    return value


def _hash(content: JsonObject) -> str:
    return digest(covered_by_hash(content))


def _later(one: Workflow, after: Mapping[Key, Workflow]) -> Workflow | None:
    """Return the first later version, if there is one."""
    later = [each for each in after.values() if each.key[:2] == one.key[:2] and each.version > one.version]
    return min(later, key=lambda each: each.version, default=None)


def _new(before: Mapping[Key, Workflow], after: Mapping[Key, Workflow]) -> Iterator[Change]:
    newest: dict[tuple[str, str], int] = {}
    for one in before.values():
        newest[one.key[:2]] = max(newest.get(one.key[:2], 0), one.version)
    for key, other in after.items():
        if key in before:
            continue
        told = f"{other.name}@{other.version} is new"
        if key[:2] not in newest:
            if other.pointer == "" or (other.owner, other.owner) not in newest:
                yield Change("workflow_added", other.file, other.pointer, told)
            else:
                yield Change("workflow_added", other.file, other.pointer, f"{told}, in {other.owner}")
        elif other.version < newest[key[:2]] and not any(
            each.key[:2] == key[:2] and each.version >= newest[key[:2]] for each in after.values()
        ):
            told = f"{other.name}@{other.version} is the newest now, and {newest[key[:2]]} was"
            yield Change("workflow_version_lowered", other.file, other.at("/workflow_version"), told)
        else:
            yield Change("workflow_version_added", other.file, other.pointer, told)


# What is gone


def _pinning(one: Workflow, references: Sequence[Reference] | None) -> list[Reference]:
    """Return the histories that pin a version and have not ended."""
    return [each for each in references or () if (each.workflow_id, each.version) == one.key[1:] and not each.has_ended]


def _gone(one: Workflow, code: Code, left_out: Code, told: str, references: Sequence[Reference] | None) -> Change:
    """Return that a version is gone: breaking, unless the histories that were given show that none is left."""
    pinning = tuple(f"{each.name}, record 1" for each in _pinning(one, references))
    return Change(left_out if references is not None and not pinning else code, one.file, one.pointer, told, pinning)


def _without_owner(one: Workflow, refused: Document | None, references: Sequence[Reference] | None) -> Iterator[Change]:
    if refused is not None:
        first = validate(refused.value).problems[0]
        told = f"{one.name} is refused: {first.sentence}"
        yield Change("no_longer_valid", refused.file, first.pointer, told)
        return
    told = f"{one.name}@{one.version} is gone"
    yield _gone(one, "workflow_removed", "workflow_left_out", told, references)


def _replaced(one: Workflow, other: Workflow | None, references: Sequence[Reference] | None) -> Iterator[Change]:
    """Yield what is gone with a version in whose place there is a later one, or none."""
    if other is None:
        told = f"{one.name}@{one.version} is gone"
        yield _gone(one, "workflow_version_removed", "workflow_left_out", told, references)
        return
    for node, successor in _nodes_gone(one, other).items():
        naming = _naming(one, node, references)
        told = f"{one.name}@{one.version} is gone, and with it the node {node}{_likely(successor)}"
        code: Code = "node_removed" if successor is None else "node_renamed"
        is_left_out = references is not None and not naming
        yield Change("node_left_out" if is_left_out else code, one.file, one.place(node), told, naming)


def _likely(successor: str | None) -> str:
    return "" if successor is None else f"; {successor} came: likely renamed"


def _naming(one: Workflow, node: str, references: Sequence[Reference] | None) -> tuple[str, ...]:
    pinning = _pinning(one, references)
    return tuple(f"{each.name}, record {each.nodes[node]}" for each in pinning if node in each.nodes)


def _nodes_gone(one: Workflow, other: Workflow) -> dict[str, str | None]:
    """Return the nodes that are gone, each with the alike one that came, if one did."""
    before, after = one.nodes, other.nodes
    renamed = likely_renames(before, after, lambda went, came: _work(went) == _work(came))
    return {name: renamed.get(name) for name in before if name not in after}


def _work(node: JsonObject) -> bytes:
    """Return what a node does, whatever it is called and wherever it stands."""
    left = {"id", "dependencies", "input_mapping"}
    return canonical_json({name: member for name, member in node.items() if name not in left})


# What is another one under the same version


def _in_place(one: Workflow, other: Workflow, references: Sequence[Reference] | None) -> Iterator[Change]:
    if _hash(one.content) == _hash(other.content):
        return
    pinned = tuple(f"{each.name}, record 1" for each in _pinning(one, references))
    for code, pointer, told, naming in _differences(one, other, references):
        whole = f"{one.name}@{one.version}: {told}"
        is_gone = code in {"node_removed", "node_renamed"}
        place = one if is_gone else other
        yield Change(code, place.file, place.at(pointer), whole, naming if is_gone else pinned)


Told = tuple[Code, str, str, tuple[str, ...]]


def _differences(one: Workflow, other: Workflow, references: Sequence[Reference] | None) -> Iterator[Told]:
    for name in dict.fromkeys((*one.content, *other.content)):
        before, after = one.content.get(name), other.content.get(name)
        if name == "content_hash" or (name in one.content and name in other.content and equal(before, after)):
            continue
        if name == "nodes":
            yield from _of_nodes(one, other, references)
        elif name == "schema_version":
            told = f"schema_version {value_in_words(before)} became {value_in_words(after)}"
            yield "schema_version_changed", "/schema_version", told, ()
        else:
            pointer = f"/{name}"
            told = f"{name}: {_said(one.content, name)} became {_said(other.content, name)}"
            yield "changed_in_place", pointer, told, ()


def _of_nodes(one: Workflow, other: Workflow, references: Sequence[Reference] | None) -> Iterator[Told]:
    before, after, gone = one.nodes, other.nodes, _nodes_gone(one, other)
    for node, successor in gone.items():
        code: Code = "node_removed" if successor is None else "node_renamed"
        place = one.place(node).removeprefix(one.pointer)
        yield code, place, f"the node {node} is gone{_likely(successor)}", _naming(one, node, references)
    for node in after:
        place = other.place(node).removeprefix(other.pointer)
        if node in before:
            yield from _of_node(node, place, before[node], after[node])
        elif node not in gone.values():
            yield "node_added", place, f"the node {node} is new", ()
    kept = [[node for node in nodes if node in before and node in after] for nodes in (before, after)]
    if kept[0] != kept[1]:
        yield "changed_in_place", "/nodes", "the order of nodes, in which they have their turn, is another one", ()


def _of_node(node: str, place: str, before: JsonObject, after: JsonObject) -> Iterator[Told]:
    for name in dict.fromkeys((*before, *after)):
        if name in before and name in after and equal(before[name], after[name]):
            continue
        told = f"{name} of the node {node}: {_said(before, name)} became {_said(after, name)}"
        yield "handler_changed" if name in {"handler", "child"} else "changed_in_place", f"{place}/{name}", told, ()


def _said(members: JsonObject, name: str) -> str:
    return value_in_words(members[name]) if name in members else "nothing"
