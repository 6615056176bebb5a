"""Text: what is I-JSON, and in how many ways one value can be spelt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from perdure_conformance.spec.documents import Repeat, Value, edge, node, workflow
from perdure_conformance.spec.pairs.everything import EVERYTHING
from perdure_conformance.spec.pairs.pair import Pair, pair

_AS_TEXT: Final = '{"schema_version":1,"workflow_id":"order","workflow_version":1,"nodes":[%s]}'

_A: Final = '{"id":"a","handler":{"name":"work","version":1}%s}'


def _with_input(text: str) -> str:
    return _AS_TEXT % (_A % f',"input":{{"k":{text}}}')


def text_is_i_json() -> Iterator[Pair]:
    """SPC-001."""
    yield pair(
        "SPC-001",
        "a key stands twice, at the top",
        (_AS_TEXT % (_A % ""))[:-1] + ',"workflow_id":"order"}',
        _AS_TEXT % (_A % ""),
    )
    yield pair(
        "SPC-001",
        "a key stands twice, deep inside",
        _with_input('{"x":[{"y":1,"y":1}]}'),
        _with_input('{"x":[{"y":1,"z":1}]}'),
    )
    yield pair(
        "SPC-001",
        "a key stands twice, once escaped",
        _with_input('{"y":1,"\\u0079":2}'),
        _with_input('{"y":1,"\\u007a":2}'),
    )
    yield pair("SPC-001", "a lone surrogate", _with_input('"\\ud83d"'), _with_input('"\\ud83d\\ude00"'))
    yield pair(
        "SPC-001", "a lone surrogate in a key", _with_input('{"\\udc00":1}'), _with_input('{"\\ud83d\\ude00":1}')
    )
    yield pair("SPC-001", "NaN", _with_input("NaN"), _with_input("0"))
    yield pair("SPC-001", "an infinite number", _with_input("-Infinity"), _with_input("-1"))
    yield pair("SPC-001", "a number too large for a double", _with_input("1e400"), _with_input("1e300"))
    yield pair("SPC-001", "2^53", _with_input("9007199254740992"), _with_input("9007199254740991"))
    yield pair("SPC-001", "−2^53", _with_input("-9007199254740992"), _with_input("-9007199254740991"))
    yield pair(
        "SPC-001", "2^53, spelt as a double", _with_input("9007199254740992.0"), _with_input("9007199254740991.0")
    )
    yield pair("SPC-001", "no JSON at the end", _AS_TEXT % (_A % "") + "x", _AS_TEXT % (_A % "") + "\n")
    yield pair("SPC-001", "a comma at the end of an array", _AS_TEXT % (_A % "" + ","), _AS_TEXT % (_A % ""))
    yield pair("SPC-001", "a comment", "/* draft */" + _AS_TEXT % (_A % ""), "   " + _AS_TEXT % (_A % ""))
    yield pair("SPC-001", "a comment to the end of the line", _AS_TEXT % (_A % "") + " // draft", _AS_TEXT % (_A % ""))
    yield pair("SPC-001", "a comment with a hash", "# draft\n" + _AS_TEXT % (_A % ""), "\n" + _AS_TEXT % (_A % ""))
    for name, space in {
        "form feed": "\f",
        "no-break space": "\u00a0",
        "byte order mark": "\ufeff",
        "NUL": "\x00",
    }.items():
        yield pair("SPC-001", f"a {name} before it", space + _AS_TEXT % (_A % ""), "\t" + _AS_TEXT % (_A % ""))
        yield pair("SPC-001", f"a {name} after it", _AS_TEXT % (_A % "") + space, _AS_TEXT % (_A % "") + "\r\n")
    yield pair("SPC-001", "a member without quotes", _with_input("{x:1}"), _with_input('{"x":1}'))
    yield pair("SPC-001", "a plus sign", _with_input("+1"), _with_input("1"))
    yield pair("SPC-001", "a number that ends in a dot", _with_input("1."), _with_input("1.0"))
    yield pair("SPC-001", "a hexadecimal number", _with_input("0x1F"), _with_input("31"))
    yield pair("SPC-001", "two documents", 2 * (_AS_TEXT % (_A % "")), _AS_TEXT % (_A % ""))
    for name, text in {"U+FFFE": "\ufffe", "U+FDD0": "\ufdd0", "U+1FFFF": "\U0001ffff"}.items():
        yield pair("SPC-001", f"the noncharacter {name}", None, _with_input(f'"{text}"'))
    yield pair("SPC-001", "a raw tab in a string", _with_input('"x\ty"'), _with_input('"x\\ty"'))
    yield pair("SPC-001", "brackets in a string nest nothing", None, _with_input('"' + 200 * "[{" + '"'))
    yield pair("SPC-001", "single quotes", _with_input("'x'"), _with_input('"x"'))
    yield pair("SPC-001", "a number with a leading zero", _with_input("01"), _with_input("1"))
    yield pair("SPC-001", "a raw line feed in a string", _with_input('"x\ny"'), _with_input('"x\\ny"'))
    yield pair("SPC-001", "nothing", "", _AS_TEXT % (_A % ""))
    yield pair("SPC-001", "cut short", (_AS_TEXT % (_A % ""))[:-1], _AS_TEXT % (_A % ""))
    yield pair(
        "SPC-001",
        "nested without end",
        (Repeat("[", 100_000), Repeat("]", 100_000)),
        _with_input("[" * 40 + "]" * 40),
    )


def _much_of_each() -> Mapping[str, Value]:
    """Return a document with more of each thing than anybody would make a limit of by mistake."""
    many = [f"n{number}" for number in range(1_500)]
    fields = [f"f{number}" for number in range(150)]
    nodes = [node(name) for name in many]
    children = {f"c{number}@1": {"nodes": [node("x")]} for number in range(120)}
    last = node("last", dependencies=many[:200], outputs=fields, signals=fields, input=dict.fromkeys(fields, 0))
    edges = [edge("n0", "n1", when={"field": "x", "equals": number}, mode="exclusive") for number in range(150)]
    return workflow(*nodes, last, edges=edges, inputs=fields, children=children)


def spelling_does_not_matter() -> Iterator[Pair]:
    """SPC-002."""
    for name, spelt in {
        "1.0 is an integer": '{"schema_version":1.0,"workflow_id":"order","workflow_version":10e-1,"nodes":[%s]}'
        % (_A % ""),
        "members in another order": '{"nodes":[%s],"workflow_version":1,"workflow_id":"order","schema_version":1}'
        % (_A % ""),
        "escaped members": '{"\\u0073chema_version":1,"workflow_id":"\\u006frder","workflow_version":1,"nodes":[%s]}'
        % (_A % ""),
        "white space": '\r\n{ "schema_version" :\t1 ,"workflow_id":"order","workflow_version":1,"nodes":[ %s ] }\n'
        % (_A % ""),
        "a schema for editors": _AS_TEXT.replace("{", '{"$schema":"./specification-1.json",', 1) % (_A % ""),
        "an escaped slash": _with_input('"a\\/b"'),
        "an escaped emoji": _with_input('"\\ud83d\\ude00"'),
        "fractions": _with_input("[0.5,1e-7,-2.5e-3,5e-324]"),
        "minus zero": _with_input("-0"),
        "minus zero, as a fraction": _with_input("-0.0"),
        "an empty member of input": _with_input('{"":{"":""}}'),
        "members of input that are no names": _AS_TEXT % (_A % ',"input":{"a b":1,"":2,"é/~":3,"1":4}'),
        "members of JavaScript in input": _AS_TEXT % (_A % ',"input":{"__proto__":1,"constructor":2,"toString":3}'),
        "NUL in a member of input": _AS_TEXT % (_A % ',"input":{"a\\u0000b":1}'),
        "NUL, U+2028 and an emoji in input": _with_input('"\\u0000\u2028\U0001f600"'),
        "the smallest document": _AS_TEXT % (_A % ""),
    }.items():
        yield pair("SPC-002", name, None, spelt)
    yield pair("SPC-002", "everything there is", None, EVERYTHING)
    yield pair("SPC-002", "much of each", None, _much_of_each())


PAIRS = (text_is_i_json, spelling_does_not_matter)
