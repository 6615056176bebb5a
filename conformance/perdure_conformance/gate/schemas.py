"""Two schemas: is what was valid still valid, and does it mean the same.

What stands in one place is compared once, however many references lead to it. Where nobody can tell whether all that
was valid still is, it is not: a pattern or a condition that is another one is breaking.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from perdure.kernel.values import canonical_json
from perdure_conformance.gate.alternatives import Paired, label, only_values, paired, types
from perdure_conformance.gate.changes import Change
from perdure_conformance.gate.limits import limits
from perdure_conformance.gate.nodes import Node, View, definitions, same, texts
from perdure_conformance.gate.policy import Code
from perdure_conformance.gate.renames import likely_renames
from perdure_conformance.gate.values import equal
from perdure_conformance.histories.words import value_in_words

_OPAQUE: Final = (
    ("if", "then", "else"),
    ("not",),
    ("contains", "minContains", "maxContains"),
    ("patternProperties",),
    ("dependentRequired",),
    ("dependentSchemas",),
    ("unevaluatedItems",),
    ("unevaluatedProperties",),
    ("$dynamicRef",),
    ("additionalItems",),
)
"""Conditions, each told by these keywords together."""
_ALTERNATIVES: Final = ("anyOf", "oneOf")
_SHOWN: Final = 200


class Comparison:
    """Compares places of two schemas, each pair once."""

    def __init__(self, *, is_of_events: bool = False) -> None:
        self.changes: list[Change] = []
        self._seen: set[tuple[tuple[str, str], tuple[str, str]]] = set()
        self._is_of_events = is_of_events

    def roots(self, old: Node, new: Node) -> None:
        """Compare two whole schemas. What has definitions alone is compared definition by definition."""
        if old.view.demands or new.view.demands or old.view.rest:
            self.compare(old, new)
            return
        self._texts(old, new)
        before, after = definitions(old), definitions(new)
        renamed = _renamed(before, after)
        for name, node in before.items():
            if name in after:
                self.compare(node, after[name])
            elif name in renamed:
                self.compare(node, after[renamed[name]])
                self._tell("member_renamed", node, f"{name} is gone, and {renamed[name]} came: likely renamed")
            else:
                self._tell("schema_removed", node, f"the definition {name} is gone")
        for name in after.keys() - before.keys() - set(renamed.values()):
            self._tell("schema_added", after[name], f"the definition {name} is new")

    def compare(self, old: Node, new: Node) -> None:
        """Compare two places."""
        one, other = old.view, new.view
        if one.home is not old and other.home is not new:
            self._texts(old, new)
        pair = (one.home.place, other.home.place)
        if pair in self._seen:
            return
        self._seen.add(pair)
        self._texts(one.home, other.home)
        if same(old, new):
            self._below(one, other)
        elif one.nothing or other.nothing:
            self._nothing(one, other)
        elif not self._listed(one, other) and not self._lifted(one, other) and self._types(one, other):
            self._limits(one, other)
            self._conditions(one, other)
            self._members(one, other)
            self._items(one, other)
            self._all_of(one, other)
            for keyword in _ALTERNATIVES:
                self._alternatives(keyword, one, other)

    def _lifted(self, one: View, other: View) -> bool:
        """Compare what is one alternative among several on the other side alone; return whether it is."""
        for keyword in _ALTERNATIVES:
            has = [view.demands == {keyword} and not view.rest for view in (one, other)]
            if has == [False, True] and keyword not in one.demands and one.demands:
                self._pair_up(keyword, one, [one.home], other.many(keyword))
                return True
            if has == [True, False] and keyword not in other.demands and other.demands:
                self._pair_up(keyword, one, one.many(keyword), [other.home])
                return True
        return False

    def _below(self, one: View, other: View) -> None:
        """Compare what stands below two places that demand the same: only words for people can differ."""
        for keyword in ("items", "additionalProperties", "propertyNames"):
            if keyword in one.keywords:
                self.compare(one.one(keyword), other.one(keyword))
        members, others = one.by_name("properties"), other.by_name("properties")
        for name, node in members.items():
            self.compare(node, others[name])
        for keyword in ("anyOf", "oneOf", "prefixItems"):
            for pair in zip(one.many(keyword), other.many(keyword), strict=True):
                self.compare(*pair)
        for pair in zip(one.rest, other.rest, strict=True):
            self.compare(*pair)

    def _tell(self, code: Code, node: Node, sentence: str) -> None:
        self.changes.append(Change(code, node.file, node.pointer, sentence))

    def _texts(self, old: Node, new: Node) -> None:
        """Compare what two places say for people, beside a reference too."""
        before, after = (texts(node.schema) if isinstance(node.schema, Mapping) else {} for node in (old, new))
        names = [name for name in dict.fromkeys((*before, *after)) if not _is_equal(before, after, name)]
        if names:
            self._tell("text_changed", new, f"{', '.join(names)}: said otherwise")

    def _default(self, name: str, one: View, other: View, *, could_be_missing: bool) -> None:
        """Compare the default of a member. Where it could not be missing, nothing was ever read by it."""
        if _is_equal(_told(one), _told(other), "default"):
            return
        before, after = (_shown(view, "default") for view in (one, other))
        code: Code = "default_changed" if could_be_missing else "text_changed"
        self._tell(code, other.home, f"the member {name}: {before} became {after}")

    def _nothing(self, one: View, other: View) -> None:
        if one.nothing != other.nothing:
            code: Code = "alternative_added" if one.nothing else "type_narrowed"
            word = "something is valid here, and nothing was" if one.nothing else "nothing is valid here any more"
            self._tell(code, other.home, word)

    def _listed(self, one: View, other: View) -> bool:
        """Compare values that are listed; return whether they were, so that there is nothing else to compare."""
        before, after = only_values(one.home), only_values(other.home)
        if before is None:
            if after is not None:
                self._tell("value_removed", other.home, f"only {_few(after)} may stand here, and more could")
            return False
        values: list[Any] = [one.get("const")] if "const" in one.keywords else one.get("enum")
        lost = [each for each in values if one.home.accepts(each) and not other.home.accepts(each)]
        if lost:
            told = _few([canonical_json(each).decode() for each in lost])
            self._tell("value_removed", other.home, f"{told} may not stand here any more")
        if after is None:
            self._tell("value_added", other.home, f"other values than {_few(before)} may stand here")
        elif more := [each for each in after if each not in before]:
            self._tell("value_added", other.home, f"{_few(more)} may stand here as well")
        return True

    def _types(self, one: View, other: View) -> bool:
        """Compare types; return whether there is a type that both allow, so that more can be compared."""
        before, after = types(one.home), types(other.home)
        if before == after:
            return True
        if before is None and after is not None:
            self._tell("type_narrowed", other.home, f"only {_types_told(after)} may stand here, and any type could")
            return True
        told = f"{_types_told(before)} became {_types_told(after)}"
        if after is None or not _types_gone(before, after):
            self._tell("type_widened", other.home, told)
            return True
        self._tell("type_narrowed", other.home, told)
        return bool(before and (before & after)) or after == {"integer"}

    def _limits(self, one: View, other: View) -> None:
        codes: Mapping[str, Code] = {
            "looser": "limit_loosened",
            "tighter": "limit_tightened",
            "other": "condition_changed",
        }
        for way, sentence in limits(one, other):
            self._tell(codes[way], other.home, sentence)

    def _conditions(self, one: View, other: View) -> None:
        for keywords in _OPAQUE:
            before, after = (View(view.home, _only(view, keywords), nothing=False) for view in (one, other))
            if not before.demands and not after.demands:
                continue
            told = " and ".join(sorted(before.demands | after.demands))
            if not after.demands and keywords[0] != "patternProperties":
                self._tell("limit_loosened", other.home, f"{told}: nothing of it is demanded any more")
            elif not _same_views(before, after):
                self._tell("condition_changed", other.home, f"{told}: another condition")

    # Members

    def _members(self, one: View, other: View) -> None:
        before, after = one.by_name("properties"), other.by_name("properties")
        renamed, was, is_ = _renamed(before, after), one.get("required", ()), other.get("required", ())
        for name, node in before.items():
            if name in after:
                if name not in was or name in is_:
                    self._default(name, node.view, after[name].view, could_be_missing=name not in was)
                self.compare(node, after[name])
            elif name in renamed:
                told = f"the member {name} is gone, and {renamed[name]} came: likely renamed"
                self._tell("member_renamed", node, told)
            elif not node.view.nothing:
                self._tell("member_removed", node, f"the member {name} is gone")
        self._required(one, other, frozenset(renamed.values()))
        self._open(one, other)

    def _required(self, one: View, other: View, renamed: frozenset[str]) -> None:
        before, after = one.by_name("properties"), other.by_name("properties")
        was, is_ = frozenset(one.get("required", ())), frozenset(other.get("required", ()))
        for name, node in after.items():
            if name not in before and name not in renamed and not node.view.nothing:
                self._new_member(name, node, is_required=name in is_)
        for name in sorted(is_ - was):
            if name in before or name not in after:
                self._tell("member_required", after.get(name, other.home), f"the member {name} must be there")
        for name in sorted(was - is_):
            if name in after and name in before:
                self._may_be_missing(name, after[name], "may be missing", "made_optional")
            elif name not in after and name not in before:
                self._tell("limit_loosened", other.home, f"{name} need not be there")

    def _new_member(self, name: str, node: Node, *, is_required: bool) -> None:
        if is_required:
            self._tell("member_required", node, f"the member {name} is new, and required")
        else:
            self._may_be_missing(name, node, "is new, and optional", "member_added")

    def _may_be_missing(self, name: str, node: Node, how: str, code: Code) -> None:
        """Tell that a member may be missing from now on: that has to mean something."""
        if "default" in node.view.keywords:
            self._tell(code, node, f"the member {name} {how}; its default is {_shown(node.view, 'default')}")
        else:
            self._tell("optional_without_default", node, f"the member {name} {how}, and has no default")

    def _open(self, one: View, other: View) -> None:
        for keyword in ("additionalProperties", "propertyNames"):
            if keyword not in one.keywords and keyword not in other.keywords:
                continue
            old, new = one.one(keyword), other.one(keyword)
            if not old.view.nothing and new.view.nothing:
                self._tell("limit_tightened", new, "no other member may be there any more")
            elif old.view.nothing and not new.view.nothing:
                self._tell("limit_loosened", new, "other members may be there")
            else:
                self.compare(old, new)

    # Items and alternatives

    def _items(self, one: View, other: View) -> None:
        before, after = one.many("prefixItems"), other.many("prefixItems")
        if len(before) != len(after):
            self._tell("condition_changed", other.home, "prefixItems: more or fewer items have a schema of their own")
        else:
            for pair in zip(before, after, strict=True):
                self.compare(*pair)
        if "items" in one.keywords or "items" in other.keywords:
            self.compare(one.one("items"), other.one("items"))

    def _all_of(self, one: View, other: View) -> None:
        found = paired(one.rest, other.rest)
        for pair in found.pairs:
            self.compare(*pair)
        for node in found.gone:
            self._undemanded(node, [node], "this is not demanded any more")
        for node in found.new:
            self._tell("limit_tightened", node, "this is demanded as well")

    def _alternatives(self, keyword: str, one: View, other: View) -> None:
        if keyword in one.keywords and keyword in other.keywords:
            self._pair_up(keyword, one, one.many(keyword), other.many(keyword))
        elif keyword in one.keywords:
            self._undemanded(other.home, one.many(keyword), f"{keyword}: not demanded any more")
        elif keyword in other.keywords:
            self._tell("limit_tightened", other.home, f"{keyword}: demanded as well")

    def _undemanded(self, node: Node, gone: list[Node], sentence: str) -> None:
        """Tell that something is demanded no more: looser, unless it said what members mean."""
        code: Code = "condition_changed" if any(each.view.by_name("properties") for each in gone) else "limit_loosened"
        self._tell(code, node, sentence)

    def _pair_up(self, keyword: str, one: View, before: list[Node], after: list[Node]) -> None:
        found = paired(before, after)
        for pair in found.pairs:
            self.compare(*pair)
        if self._is_of_events and one.home.pointer == "":
            self._event_types(found)
        else:
            self._gone_and_new(keyword, found, after)

    def _gone_and_new(self, keyword: str, found: Paired, after: list[Node]) -> None:
        for node in found.gone:
            if not any(takes_all(node, each) for each in after):
                self._tell("alternative_removed", node, f"{_called(node)} is no alternative any more")
        for node in found.new:
            is_apart = keyword == "anyOf" or all(_is_apart(node, each) for each in after if each is not node)
            code: Code = "alternative_added" if is_apart else "condition_changed"
            told = "" if is_apart else ", and what was valid may be valid by two now"
            self._tell(code, node, f"{_called(node)} is an alternative as well{told}")

    def _event_types(self, found: Paired) -> None:
        went, came = ({_called(node): node for node in nodes} for nodes in (found.gone, found.new))
        renamed = likely_renames(went, came, _same_but_for_the_label)
        for name, node in went.items():
            if name in renamed:
                self._tell("event_type_renamed", node, f"{name} is gone, and {renamed[name]} came: likely renamed")
            else:
                self._tell("event_type_removed", node, f"{name} is gone")
        for name in came.keys() - set(renamed.values()):
            self._tell("event_type_added", came[name], f"{name} is new in a version that was released")


def takes_all(old: Node, new: Node) -> bool:
    """Tell whether all that was valid by one place is valid by another, and means the same."""
    trial = Comparison()
    trial.compare(old, new)
    return not any(change.is_breaking for change in trial.changes)


def _is_apart(one: Node, other: Node) -> bool:
    """Tell whether no value is valid by both, as far as that is easily seen."""
    labels = label(one), label(other)
    if None not in labels:
        name, _, value = str(labels[0]).partition(": ")
        other_name, _, other_value = str(labels[1]).partition(": ")
        return name == other_name and value != other_value
    values = only_values(one), only_values(other)
    if values[0] is not None and values[1] is not None:
        return not set(values[0]) & set(values[1])
    before, after = types(one), types(other)
    return (
        before is not None and after is not None and not before & after and not {"number", "integer"} <= before | after
    )


def _renamed(before: Mapping[str, Node], after: Mapping[str, Node]) -> dict[str, str]:
    return likely_renames(before, after, same, lambda one, other: types(one) == types(other))


def _same_but_for_the_label(one: Node, other: Node) -> bool:
    before, after = one.view.by_name("properties"), other.view.by_name("properties")
    told = str(label(one)).partition(":")[0]
    names = before.keys() - {told}
    return names == after.keys() - {told} and bool(names) and all(same(before[name], after[name]) for name in names)


def _only(view: View, keywords: tuple[str, ...]) -> Mapping[str, tuple[Any, Node]]:
    return {name: value for name, value in view.keywords.items() if name in keywords}


def _same_views(one: View, other: View) -> bool:
    return same(_whole(one), _whole(other))


def _whole(view: View) -> Node:
    """Return keywords that were taken from a place as a place of their own."""
    origin = next((origin for _, origin in view.keywords.values()), view.home)
    return Node(origin.library, origin.uri, origin.pointer, _told(view))


def _told(view: View) -> Mapping[str, Any]:
    return {name: value for name, (value, _) in view.keywords.items()}


def _types_gone(before: frozenset[str] | None, after: frozenset[str]) -> tuple[str, ...]:
    taken = after | ({"integer"} if "number" in after else frozenset())
    return tuple(sorted((before or frozenset()) - taken))


def _types_told(found: frozenset[str] | None) -> str:
    return "any type" if found is None else " or ".join(sorted(found))


def _called(node: Node) -> str:
    """Return what an alternative is called: by what tells it apart, by its definition, or by its types."""
    told = label(node)
    if told is not None:
        return told.partition(": ")[2].strip('"')
    if node.view.home is not node:
        return node.view.home.pointer.rpartition("/")[2]
    values = only_values(node)
    return _few(values) if values is not None else _types_told(types(node))


def _shown(view: View, keyword: str) -> str:
    return value_in_words(view.get(keyword)) if keyword in view.keywords else f"no {keyword}"


def _few(values: list[str]) -> str:
    told = ", ".join(each[:_SHOWN] for each in values[:8])
    return f"{told} and {len(values) - 8} more" if len(values) > 8 else told


def _is_equal(before: Mapping[str, Any], after: Mapping[str, Any], name: str) -> bool:
    """Tell whether both have the same under a name, or both nothing."""
    if name not in before or name not in after:
        return name not in before and name not in after
    return equal(before[name], after[name])


def compared(old: Node, new: Node, *, is_of_events: bool = False) -> Iterator[Change]:
    """Yield the changes from one whole schema to another."""
    comparison = Comparison(is_of_events=is_of_events)
    comparison.roots(old, new)
    yield from comparison.changes
