"""Two schemas: is what was valid still valid, and does it mean the same.

What stands in one place is compared once, however many references lead to it. Where nobody can tell whether all that
was valid still is, it is not: a pattern or a condition that is another one is breaking.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, Final

from perdure.kernel.values import read_json
from perdure_conformance.gate.alternatives import (
    Paired,
    by_type,
    is_apart,
    label,
    members_of,
    only_values,
    paired,
    types,
)
from perdure_conformance.gate.changes import Change
from perdure_conformance.gate.limits import limits
from perdure_conformance.gate.nodes import CONTENTS, Node, Place, View, definitions, same, texts
from perdure_conformance.gate.policy import POLICY, Code
from perdure_conformance.gate.renames import likely_renames
from perdure_conformance.gate.values import equal
from perdure_conformance.histories.words import value_in_words

_OPAQUE: Final = (
    ("if", "then", "else"),
    ("not",),
    ("contains", "minContains", "maxContains"),
    ("dependentRequired",),
    ("dependentSchemas",),
    ("unevaluatedItems",),
    ("unevaluatedProperties",),
    ("$dynamicRef",),
    ("$recursiveRef",),
    ("additionalItems",),
    ("dependencies",),
    *((keyword,) for keyword in sorted(CONTENTS)),
)
"""Conditions, each told by these keywords together."""
_ALTERNATIVES: Final = ("anyOf", "oneOf")
_LOOSER: Final[frozenset[Code]] = frozenset(
    {"alternative_added", "limit_loosened", "made_optional", "optional_without_default", "type_widened", "value_added"}
)
"""Changes by which something is valid that was not."""
Pair = tuple[Place, Place]
_SHOWN: Final = 200


class Comparison:
    """Compares places of two schemas, each pair once, one after the other: however deep they nest, the stack is not."""

    def __init__(self, *, is_of_events: bool = False, outer: Comparison | None = None) -> None:
        self.changes: list[Change] = []
        self._left: list[tuple[Node, Node]] = []
        self._seen: set[Pair] = set()
        self._is_of_events = is_of_events
        self.outer = outer
        is_within_a_trial = outer is not None and outer.outer is not None
        self.trials: dict[Pair, frozenset[Code]] = outer.trials if outer and is_within_a_trial else {}
        """What was found out on trial; what is found out within a trial holds for no other one."""

    def roots(self, old: Node, new: Node) -> None:
        """Compare two whole schemas. What has definitions alone is compared definition by definition."""
        if old.view.demands or new.view.demands or old.view.rest:
            self.compare(old, new)
        else:
            self._definitions(old, new)
        self.finish()

    def _definitions(self, old: Node, new: Node) -> None:
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
        """Have two places compared when it is finished."""
        self._left.append((old, new))

    def finish(self) -> None:
        """Compare what is left, until nothing is."""
        while self._left:
            self._compare(*self._left.pop())

    def codes(self, old: Node, new: Node) -> frozenset[Code]:
        """Return what changed from one place to another, apart from what is being compared already."""
        pair = (old.view.home.place, new.view.home.place)
        if pair not in self.trials:
            trial = Comparison(outer=self)
            trial.compare(old, new)
            trial.finish()
            self.trials[pair] = frozenset(change.code for change in trial.changes)
        return self.trials[pair]

    def takes_all(self, old: Node, new: Node) -> bool:
        """Tell whether all that was valid by one place is valid by another, and means the same."""
        return not any(POLICY[code].verdict == "breaking" for code in self.codes(old, new))

    def has_seen(self, pair: Pair) -> bool:
        """Tell whether two places are being compared already, or have been."""
        return pair in self._seen or (self.outer is not None and self.outer.has_seen(pair))

    def _compare(self, old: Node, new: Node) -> None:
        one, other = old.view, new.view
        if one.home is not old and other.home is not new:
            self._texts(old, new)
        pair = (one.home.place, other.home.place)
        if self.has_seen(pair):
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
            self._alternatives(one, other)

    def _lifted(self, one: View, other: View) -> bool:
        """Compare what is one alternative among several on the other side alone; return whether it is."""
        if _switched(one, other) is not None:
            return False
        for keyword in _ALTERNATIVES:
            has = [_is_choice(view, keyword) for view in (one, other)]
            if has == [False, True] and keyword not in one.demands and one.demands:
                self._pair_up(keyword, one, by_type(one), other.many(keyword))
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
        for pattern, node in one.by_name("patternProperties").items():
            self.compare(node, other.by_name("patternProperties")[pattern])
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
        if before is None and after is not None:
            before = _BY_TYPE.get(types(one.home) or frozenset())
        if before is None:
            if any(_is_choice(one, keyword) for keyword in _ALTERNATIVES):
                return False
            if after is not None:
                self._tell("value_removed", other.home, f"only {_few(after)} may stand here, and more could")
            return False
        values = {each: read_json(each) for each in before}
        lost = [each for each, value in values.items() if one.home.accepts(value) and not other.home.accepts(value)]
        if lost:
            told = _few(lost)
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
            if not after.demands and keywords[0] not in CONTENTS:
                parts = [before.one(name) for name in ("then", "else") if name in before.keywords]
                gone = [
                    node
                    for part in (*parts, *before.by_name("dependentSchemas").values())
                    for name, node in members_of(part).items()
                    if "default" in node.view.keywords or name not in members_of(other.home)
                ]
                code: Code = "condition_changed" if gone else "limit_loosened"
                self._tell(code, other.home, f"{told}: nothing of it is demanded any more")
            elif not _same_views(before, after):
                self._tell("condition_changed", other.home, f"{told}: another condition")

    # Members

    def _members(self, one: View, other: View) -> None:
        before, after = _allowed(one), other.by_name("properties")
        renamed, was, is_ = _renamed(before, after), one.get("required", ()), other.get("required", ())
        for name, node in before.items():
            if name in after:
                if name not in was or name in is_:
                    self._default(name, node.view, after[name].view, could_be_missing=name not in was)
                self.compare(node, after[name])
            elif name in renamed:
                told = f"the member {name} is gone, and {renamed[name]} came: likely renamed"
                self._tell("member_renamed", node, told)
            else:
                self._tell("member_removed", node, f"the member {name} is gone")
        self._required(one, other, frozenset(renamed.values()))
        self._open(one, other)

    def _required(self, one: View, other: View, renamed: frozenset[str]) -> None:
        before, after = _allowed(one), other.by_name("properties")
        was, is_ = frozenset(one.get("required", ())), frozenset(other.get("required", ()))
        for name, node in after.items():
            if name not in before and name not in renamed and not node.view.nothing:
                self._new_member(name, node, is_required=name in is_)
            elif node.view.nothing and name not in one.by_name("properties") and not _is_closed(one):
                self._tell("limit_tightened", node, f"the member {name} may not be there any more")
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
        patterns, others = one.by_name("patternProperties"), other.by_name("patternProperties")
        for pattern, node in patterns.items():
            if pattern in others:
                self.compare(node, others[pattern])
        if patterns.keys() != others.keys():
            self._tell("condition_changed", other.home, "patternProperties: other patterns")

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

    def _alternatives(self, one: View, other: View) -> None:
        if (switched := _switched(one, other)) is not None:
            before, after = one.many(switched[0]), other.many(switched[1])
            self._pair_up(switched[1], one, before, after)
            if switched[1] == "oneOf" and not _are_apart(after):
                self._tell("condition_changed", other.home, "what was valid by several of these is not valid any more")
            return
        for keyword in _ALTERNATIVES:
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
            if keyword == "oneOf" and self._may_meet_another(*pair, after):
                told = f"{_called(pair[1])} takes more, and what was valid may be valid by two now"
                self._tell("condition_changed", pair[1], told)
        if self._is_of_events and one.home.pointer == "":
            self._event_types(found)
        else:
            self._gone_and_new(keyword, found, after)

    def _may_meet_another(self, old: Node, new: Node, after: list[Node]) -> bool:
        """Tell whether something may be valid by an alternative from now on that is valid by another one as well."""
        others = [each for each in after if each is not new]
        if all(is_apart(new, each) for each in others):
            return False
        told = self.codes(old, new)
        return bool(told & _LOOSER) or ("member_added" in told and _is_closed(old.view))

    def _gone_and_new(self, keyword: str, found: Paired, after: list[Node]) -> None:
        for node in found.gone:
            if not any(self.takes_all(node, each) for each in after):
                self._tell("alternative_removed", node, f"{_called(node)} is no alternative any more")
        for node in found.new:
            apart = keyword == "anyOf" or all(is_apart(node, each) for each in after if each is not node)
            code: Code = "alternative_added" if apart else "condition_changed"
            told = "" if apart else ", and what was valid may be valid by two now"
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
    return Comparison().takes_all(old, new)


_BY_TYPE: Final = {frozenset({"boolean"}): ["false", "true"], frozenset({"null"}): ["null"]}
"""Types with few values."""


def _are_apart(nodes: list[Node]) -> bool:
    return all(is_apart(*pair) for pair in combinations(nodes, 2))


def _is_choice(view: View, keyword: str) -> bool:
    """Tell whether alternatives are all that is demanded."""
    return view.demands == {keyword} and not view.rest


def _switched(one: View, other: View) -> tuple[str, str] | None:
    """Return the keywords of alternatives of both sides, where each has one and they are not the same."""
    before, after = ([name for name in _ALTERNATIVES if name in view.demands] for view in (one, other))
    return (before[0], after[0]) if len(before) == len(after) == 1 and before != after else None


def _allowed(view: View) -> dict[str, Node]:
    """Return the members that may be there."""
    return {name: node for name, node in view.by_name("properties").items() if not node.view.nothing}


def _is_closed(view: View) -> bool:
    """Tell whether no other members may be there than those that are named."""
    return any(view.one(keyword).view.nothing for keyword in ("additionalProperties", "unevaluatedProperties"))


def _renamed(before: Mapping[str, Node], after: Mapping[str, Node]) -> dict[str, str]:
    return likely_renames(before, after, same, lambda one, other: types(one) == types(other))


def _same_but_for_the_label(one: Node, other: Node) -> bool:
    before, after = members_of(one), members_of(other)
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
    return Node(origin.library, origin.uri, origin.pointer, _told(view), part=" ".join(sorted(view.keywords)))


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
