"""Sizes, depth and content hash."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from perdure.kernel.values import digest
from perdure_conformance.spec.documents import Repeat, Value, length_of, node, pieces, workflow, written
from perdure_conformance.spec.pairs.pair import Pair, pair

_AS_TEXT: Final = '{"schema_version":1,"workflow_id":"order","workflow_version":1,"nodes":[%s]}'

_A: Final = '{"id":"a","handler":{"name":"work","version":1}%s}'


def _with_input(text: str) -> str:
    return _AS_TEXT % (_A % f',"input":{{"k":{text}}}')


_SIZE_OF_REST: Final = length_of(written(workflow(schema="")))


def _hashed(document: Mapping[str, Value], of: Mapping[str, Value] | None = None) -> Mapping[str, Value]:
    return {**document, "content_hash": digest(of if of is not None else document)}


_HASH: Final = digest(workflow(version=1))


def size_and_depth() -> Iterator[Pair]:
    """SPC-009."""
    yield pair(
        "SPC-009",
        "a byte more than 15 MiB",
        pieces(workflow(schema="<fill>"), fill=Repeat("x", 15 * 2**20 - _SIZE_OF_REST + 1)),
        pieces(workflow(schema="<fill>"), fill=Repeat("x", 15 * 2**20 - _SIZE_OF_REST)),
    )
    yield pair(
        "SPC-009",
        "characters are not bytes",
        pieces(workflow(schema="<fill>"), fill=Repeat("é", (15 * 2**20 - _SIZE_OF_REST) // 2 + 1)),
        pieces(workflow(schema="<fill>"), fill=Repeat("é", (15 * 2**20 - _SIZE_OF_REST) // 2)),
    )
    yield pair(
        "SPC-009",
        "white space does not count",
        None,
        (Repeat(" ", 15 * 2**20), *written(workflow())),
    )
    filled = {**workflow(schema="x" * (15 * 2**20 - _SIZE_OF_REST))}
    hashed = {**workflow(schema="<fill>"), "content_hash": digest(filled)}
    yield pair(
        "SPC-009",
        "15 MiB, and a hash above it",
        pieces(hashed, fill=Repeat("x", 15 * 2**20 - _SIZE_OF_REST)),
        None,
    )
    yield pair("SPC-009", "91 levels", _with_input("[" * 87 + "]" * 87), _with_input("[" * 86 + "]" * 86))


def size_of_input() -> Iterator[Pair]:
    """SPC-010."""
    yield pair(
        "SPC-010",
        "a byte more than 64 KiB",
        pieces(workflow(node("a", input={"k": "<fill>"})), fill=Repeat("x", 65_536 - 8 + 1)),
        pieces(workflow(node("a", input={"k": "<fill>"})), fill=Repeat("x", 65_536 - 8)),
    )
    yield pair(
        "SPC-010",
        "characters of input are not bytes",
        pieces(workflow(node("a", input={"k": "<fill>"})), fill=Repeat("é", 32_765)),
        pieces(workflow(node("a", input={"k": "<fill>"})), fill=Repeat("é", 32_764)),
    )
    yield pair(
        "SPC-010",
        "white space in input does not count",
        None,
        (
            f"{_with_input('<cut>').partition('<cut>')[0]}",
            Repeat(" ", 70_000),
            "1" + _with_input("<cut>").partition("<cut>")[2],
        ),
    )
    yield pair(
        "SPC-010",
        "another spelling does not count",
        None,
        (
            f'{_with_input("<cut>").partition("<cut>")[0]}"',
            Repeat("\\u0041", 60_000),
            '"' + _with_input("<cut>").partition("<cut>")[2],
        ),
    )
    yield pair(
        "SPC-010",
        "input of the second node",
        pieces(workflow(node("a"), node("b", input={"k": "<fill>"})), fill=Repeat("x", 65_529)),
        pieces(workflow(node("a"), node("b", input={"k": "<fill>"})), fill=Repeat("x", 65_528)),
    )
    yield pair(
        "SPC-010",
        "input of a child's node",
        pieces(workflow(children={"c@1": {"nodes": [node("x", input={"k": "<fill>"})]}}), fill=Repeat("x", 65_529)),
        pieces(workflow(children={"c@1": {"nodes": [node("x", input={"k": "<fill>"})]}}), fill=Repeat("x", 65_528)),
    )


def hash_is_right() -> Iterator[Pair]:
    """SPC-011."""
    yield pair(
        "SPC-011",
        "the hash of another version",
        _hashed({**workflow(), "workflow_version": 2}, workflow()),
        _hashed(workflow()),
    )
    yield pair(
        "SPC-011",
        "a hash with another last digit",
        {**workflow(), "content_hash": digest(workflow())[:-1] + ("1" if digest(workflow())[-1] == "0" else "0")},
        _hashed(workflow()),
    )
    yield pair("SPC-011", "the hash of nothing", {**workflow(), "content_hash": "0" * 64}, _hashed(workflow()))
    yield pair(
        "SPC-011",
        "the hash without $schema",
        _hashed(workflow(schema="x"), workflow()),
        _hashed(workflow(schema="x")),
    )
    yield pair(
        "SPC-011",
        "the hash of letters that are not ASCII",
        None,
        _hashed(
            workflow(node("a", input={"é": "😀\u2028", "e": 1e21, "d": 0.1, "c": 1e-7, "\ufb33": 1, "\U00010000": 2}))
        ),
    )
    yield pair(
        "SPC-011", "the hash with its own member", _hashed(workflow(), {**workflow(), "content_hash": ""}), workflow()
    )
    yield pair(
        "SPC-011",
        "the hash of another spelling",
        None,
        _AS_TEXT.replace("{", f'{{"content_hash":"{_HASH}",', 1).replace('version":1,', 'version":1.0,') % (_A % ""),
    )


def hash_is_told() -> Iterator[Pair]:
    """SPC-012."""
    for name, text in {
        "plain": _AS_TEXT % (_A % ""),
        "spelt otherwise": ' {"nodes":[%s],"schema_version":1.0,"workflow_id":"\\u006frder","workflow_version":1}'
        % (_A % ""),
        "with its hash": _AS_TEXT.replace("{", f'{{"content_hash":"{_HASH}",', 1) % (_A % ""),
        "with a schema for editors": _AS_TEXT.replace("{", '{"$schema":"./specification-1.json",', 1) % (_A % ""),
        "null and what is empty": _with_input('{"a":null,"b":{},"c":[],"d":"","e":false,"f":0}'),
        "what other writers escape": _with_input('"<>&\'/\\b\\f\\t\u007f\u2028\u2029"'),
        "a content hash inside": _with_input('{"content_hash":"x","content_hash ":1}'),
        "keys by UTF-16": _with_input('{"\ufb33":1,"\U00010000":2,"é":3,"z":4}'),
        "numbers": _with_input("[1e21,0.1,1e-7,-0.0,5e-324,1.0]"),
        "strings": _with_input('"\\u0000\\u001f\\u007f\\u2028\\/\\"\\\\\U0001f600"'),
        "defaults that are spelt out": str(written(workflow(node("a", dependencies=[], outputs=[], input={})))[0]),
    }.items():
        yield pair("SPC-012", f"the hash: {name}", None, text)


PAIRS = (size_and_depth, size_of_input, hash_is_right, hash_is_told)
