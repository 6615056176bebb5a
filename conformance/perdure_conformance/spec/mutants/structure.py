"""Faults of what a document looks like: SPC-003 to SPC-008, SPC-013, SPC-014, SPC-016."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Final, get_args

from perdure.kernel.identity import NAME_GRAMMAR
from perdure.kernel.outcomes import OUTCOME_KINDS
from perdure.kernel.specification import ChildPolicy, DependencyPolicy, EdgeMode, Exponential, Fixed
from perdure.kernel.values import MAX_SAFE_INTEGER
from perdure_conformance.spec.documents import Value
from perdure_conformance.spec.mutants.faults import Complains, Complaint, Look, Overlooks, Seen, values
from perdure_conformance.spec.registry import mutant

_WORDS: Final = (
    *OUTCOME_KINDS,
    *get_args(DependencyPolicy),
    *get_args(ChildPolicy),
    *get_args(EdgeMode),
    "any",
    "cascade",
    "immediate",
    "fixed",
    "exponential",
)

_INTEGERS: Final = frozenset(
    {
        *("schema_version", "workflow_version", "version", "max_activations", "max_attempts", "max_transitions"),
        *("max_elapsed_ms", "attempt_deadline_ms", "delay_ms", "initial_ms", "multiplier", "maximum_ms"),
        "byte_length",
    }
)
"""Members that are integers."""

_ARRAYS_OF_NAMES: Final = frozenset({"dependencies", "initial_nodes", "inputs", "signals", "classes"})
"""Members that are arrays of names wherever they stand; `outputs` is one of nodes alone."""

# Members and types


@mutant("SPC-003", overlaps=("CHD-006",))
class IgnoresUnknownMembers(Overlooks):
    """Ignores members that it does not know, so that a misspelled one has no effect."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "unknown_member"


@mutant("SPC-003", overlaps=("CHD-006",))
class ClosesTheOutermostObject(Overlooks):
    """Looks for unknown members in the outermost object, and in none inside."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "unknown_member" and len(seen.path) > 1


@mutant("SPC-003")
class FillsInVersions(Overlooks):
    """Takes version 1 where none is said."""

    def overlooks(self, seen: Seen) -> bool:
        if seen.code != "missing_member":
            return False
        of_workflow = not seen.path and seen.value.keys() >= {"schema_version", "workflow_id", "nodes"}
        return of_workflow or (seen.key == "handler" and seen.value.keys() == {"name"})


@mutant("SPC-003")
class TakesTrueForOne(Overlooks):
    """Takes `true` for the integer 1, which in its language it is."""

    def overlooks(self, seen: Seen) -> bool:
        return _is_no_integer(seen) and seen.value is True


@mutant("SPC-003", overlaps=("SPC-030",))
class TakesDigitsForNumbers(Overlooks):
    """Takes "1" for 1."""

    def overlooks(self, seen: Seen) -> bool:
        return _is_no_integer(seen) and str(seen.value).isdigit()


@mutant("SPC-003")
class DropsFractions(Overlooks):
    """Takes 1.5 for 1."""

    def overlooks(self, seen: Seen) -> bool:
        return _is_no_integer(seen) and isinstance(seen.value, float)


@mutant("SPC-003")
class TakesNullForAbsent(Overlooks):
    """Takes null for a member that is not there."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "wrong_type" and seen.value is None


@mutant("SPC-003")
class TakesOneForAList(Overlooks):
    """Takes a single name where an array of names is expected."""

    def overlooks(self, seen: Seen) -> bool:
        of_names = seen.key in _ARRAYS_OF_NAMES or (seen.key == "outputs" and seen.path[-3:-2] == ["nodes"])
        return seen.code == "wrong_type" and isinstance(seen.value, str) and of_names


def _is_no_integer(seen: Seen) -> bool:
    return seen.code == "wrong_type" and seen.key in _INTEGERS


# Words


@mutant("SPC-004")
class TakesWordsInCapitals(Overlooks):
    """Compares words without regard to case."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "unknown_word" and seen.value.lower() in _WORDS


@mutant("SPC-004", overlaps=("SPC-030",))
class TakesUnknownPoliciesForTheDefault(Overlooks):
    """Falls back to the default where it does not know a policy or a mode."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "unknown_word" and seen.key in {"dependency_policy", "mode", "cancellation"}


@mutant("SPC-004")
class TakesAnyOutcomeKind(Overlooks):
    """Takes any string for an outcome kind: handlers may have their own."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "unknown_word" and (seen.key == "outcome" or seen.array == "classes")


@mutant("SPC-004")
class TakesAnyBackoff(Overlooks):
    """Takes a backoff of a kind that there is not, and retries at once."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "unknown_word" and seen.array == "backoff"


# Ranges


@mutant("SPC-005", overlaps=("SPC-030",))
class TakesZeroAttempts(Overlooks):
    """Takes `max_attempts` of 0, which means no attempt at all or one without end."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "out_of_range" and seen.key == "max_attempts" and seen.value == 0


@mutant("SPC-005", overlaps=("SPC-030",))
class TakesZeroForNone(Overlooks):
    """Takes a deadline or a limit of 0 for none, since 0 is false."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "out_of_range" and seen.value == 0 and seen.key.startswith(("attempt_deadline", "max_"))


@mutant("SPC-005")
class TakesNegativeDelays(Overlooks):
    """Takes a negative delay, and waits until yesterday."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "out_of_range" and seen.array in {"backoff", "jitter"} and _is_negative(seen.value)


def _is_negative(value: Value) -> bool:
    return isinstance(value, int) and value < 0


@mutant("SPC-005", overlaps=("CHD-006",))
class TakesNoNodes(Overlooks):
    """Takes a workflow without nodes, which is done before it begins."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "out_of_range" and seen.key == "nodes"


@mutant("SPC-005", overlaps=("SPC-002", "SPC-003", "SPC-004", "SPC-006", "SPC-031"))
class WantsSomeDelay(Complains):
    """Refuses a delay of 0 ms: it takes each integer of at least 0 for one of at least 1."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes:
            for node in scope.definition.nodes:
                match node.retry and node.retry.backoff:
                    case Fixed(delay_ms=0) | Exponential(initial_ms=0) | Exponential(maximum_ms=0):
                        yield "out_of_range", scope.at(node)
                    case _:
                        pass


@mutant("SPC-005", overlaps=("SPC-002", "SPC-003", "SPC-004", "SPC-006", "SPC-031"))
class RefusesTheUpperEnd(Complains):
    """Refuses 2^53−1 itself: < where it should be <=."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        if any(_is_integer(value) and value == MAX_SAFE_INTEGER for value in _settings(look.document)):
            yield "out_of_range", ""


@mutant("SPC-005", overlaps=("SPC-002", "SPC-003", "SPC-004", "SPC-006", "SPC-031"))
class KeepsIntegersIn32Bits(Complains):
    """Refuses more milliseconds than 32 bits hold, which are 25 days."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        if any(_is_integer(value) and value > 2**31 - 1 for value in _settings(look.document)):
            yield "out_of_range", ""


@mutant("SPC-005", report="apache/airflow#47971")
class ComputesTheLastDelay(Complains):
    """Computes the delay before the last attempt in doubles, and stumbles where it overflows before it is cut."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes:
            for node in scope.definition.nodes:
                if node.retry is not None and isinstance(node.retry.backoff, Exponential):
                    try:
                        float(node.retry.backoff.multiplier) ** node.retry.max_attempts
                    except OverflowError:
                        yield "out_of_range", scope.at(node)


def _is_integer(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _settings(document: Value) -> Iterator[Value]:
    """Yield the values of a document that are members, and not JSON of the author's own."""
    if isinstance(document, Mapping):
        for key, item in document.items():
            if key not in {"input", "equals"}:
                yield item
                yield from _settings(item)
    elif isinstance(document, list):
        for item in document:
            yield from _settings(item)


# Strings


@mutant("SPC-006")
class LetsALineFeedThrough(Overlooks):
    """Checks strings with a pattern that ends in $, which also matches before a final line feed."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "wrong_form" and re.search(f"^({_FORMS})$", seen.string) is not None


_FORMS: Final = NAME_GRAMMAR + r"|[0-9a-f]{64}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


@mutant("SPC-006", report="dbos-inc/dbos-transact-py#759")
class TakesTheEmptyString(Overlooks):
    """Takes the empty string for a name that is not there."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "wrong_form" and not seen.string


@mutant("SPC-006")
class TakesLettersOfAllAlphabets(Overlooks):
    r"""Takes `\w` for the letters of ASCII."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "wrong_form" and re.fullmatch(r"[^\W\d][\w.-]{0,127}", seen.string) is not None


@mutant("SPC-006")
class TakesLongNames(Overlooks):
    """Looks at the characters of a name, and not at how many there are."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "wrong_form" and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*", seen.string) is not None


@mutant("SPC-006")
class LooksAtTheBeginningOnly(Overlooks):
    """Matches the beginning of a string, and takes whatever follows."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "wrong_form" and re.match(_FORMS, seen.string) is not None


@mutant("SPC-006")
class TakesDigestsInCapitals(Overlooks):
    """Takes digests and UUIDs in capitals, which are equal only to some."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "wrong_form" and re.fullmatch(_FORMS, seen.string.lower()) is not None


@mutant("SPC-006")
class LooksAtNoKeys(Overlooks):
    """Looks at the form of strings, and not at that of keys."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "wrong_form" and seen.problem.at_key


@mutant("SPC-006")
class CountsUtf16Units(Complains):
    """Counts an emoji as two characters."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        limits = {"seed": 128, "media_type": 255}
        for key, value in values(look.document):
            if key in limits and isinstance(value, str) and len(value.encode("utf-16-le")) > 2 * limits[key]:
                yield "wrong_form", ""


@mutant("SPC-002", overlaps=("SPC-003", "SPC-004", "SPC-006"))
class WantsASeed(Complains):
    """Refuses an empty seed, as if it were a name."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes:
            for node in scope.definition.nodes:
                if node.retry is not None and node.retry.jitter is not None and not node.retry.jitter.seed:
                    yield "wrong_form", f"{scope.at(node)}/retry/jitter/seed"


# Versions


@mutant("SPC-007")
class TakesTheNextVersion(Overlooks):
    """Takes version 6, and hopes that it is much like 5."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "unsupported_version" and seen.value > 5


@mutant("SPC-007")
class TakesVersionZero(Overlooks):
    """Takes version 0 for none, and none for the latest."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "unsupported_version" and seen.value == 0


@mutant("SPC-007", overlaps=("SPC-001", "SPC-002", "SPC-008", "SPC-009", "SPC-010", "SPC-011", "SPC-012", "SPC-031"))
class KnowsTheLatestVersionAlone(Complains):
    """Refuses every version but the latest, though runs are pinned to old ones."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        if look.document.get("schema_version") in (1, 2, 3, 4):
            yield "unsupported_version", "/schema_version"


class _HasNoGate(Overlooks):
    """It takes some members of later versions."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "member_of_later_version" and self.takes(seen)

    def takes(self, seen: Seen) -> bool:
        """Tell whether it takes the member that the problem is about."""
        raise NotImplementedError


@mutant("SPC-008")
class HasNoGates(_HasNoGate):
    """Takes every member in every version."""

    def takes(self, seen: Seen) -> bool:
        del seen
        return True


@mutant("SPC-008")
class ForgetsTheGateOfSignals(_HasNoGate):
    """Takes `signals` in every version."""

    def takes(self, seen: Seen) -> bool:
        return seen.key == "signals"


@mutant("SPC-008")
class ForgetsTheGateOfArtifacts(_HasNoGate):
    """Takes `artifacts` in version 1."""

    def takes(self, seen: Seen) -> bool:
        return seen.key == "artifacts"


@mutant("SPC-008")
class ForgetsTheGateOfBudgets(_HasNoGate):
    """Takes `budgets` in every version."""

    def takes(self, seen: Seen) -> bool:
        return seen.key == "budgets"


@mutant("SPC-008")
class HasGatesInTheOutermostObject(_HasNoGate):
    """Holds the members of the document against its version, and not those of nodes."""

    def takes(self, seen: Seen) -> bool:
        return "nodes" in seen.path


@mutant("SPC-008")
class HasNoGatesInDefinitions(_HasNoGate):
    """Forgets the version inside definitions, which have none of their own."""

    def takes(self, seen: Seen) -> bool:
        return len(seen.path) > 1 and seen.is_in_definition


@mutant("SPC-008")
class TakesDefaultsInEveryVersion(_HasNoGate):
    """Compares decoded values with their defaults, so that a default that is written out passes in every version."""

    def takes(self, seen: Seen) -> bool:
        return seen.value in ("all_succeeded", "cascade", [], {})


@mutant("SPC-008")
class OpensGatesOneVersionEarly(_HasNoGate):
    """Takes a member one version before it came."""

    def takes(self, seen: Seen) -> bool:
        correction = seen.problem.correction
        return correction is not None and correction.value == seen.look.document["schema_version"] + 1


# Nodes and names


@mutant("SPC-013")
class TakesTheLastOfTwoNodes(Overlooks):
    """Keeps nodes in a table by id, so that the last of two takes the place of the first."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "duplicate_node"


@mutant("SPC-013")
class ComparesNeighbouringNodes(Overlooks):
    """Compares each node id with the one before, as if they were sorted."""

    def overlooks(self, seen: Seen) -> bool:
        if seen.code != "duplicate_node":
            return False
        nodes = seen.above(2)
        return bool(nodes[int(seen.array) - 1]["id"] != seen.value)


@mutant("SPC-013", overlaps=("SPC-002", "SPC-015", "SPC-031", "EDG-002", "EDG-005", "CHD-003", "CHD-006"))
class SharesIdsAmongDefinitions(Complains):
    """Keeps one table of node ids for the document and its definitions."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for one, other in combinations(look.scopes, 2):
            for name in one.positions.keys() & other.positions.keys():
                yield "duplicate_node", other.at(other.definition.nodes[other.positions[name]])


@mutant("SPC-013", overlaps=("SPC-002", "SPC-031"))
class ComparesIdsWithoutCase(Complains):
    """Takes `A` and `a` for one node."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes:
            if len({name.lower() for name in scope.positions}) < len(scope.positions):
                yield "duplicate_node", f"{scope.place}/nodes"


@mutant("SPC-014")
class TakesHandlerAndChild(Overlooks):
    """Takes a node with both `handler` and `child`, and runs the handler."""

    def overlooks(self, seen: Seen) -> bool:
        return _is_of_a_node(seen) and seen.value.keys() >= {"handler", "child"}


@mutant("SPC-014")
class TakesNeitherHandlerNorChild(Overlooks):
    """Takes a node with neither `handler` nor `child` for one that does nothing."""

    def overlooks(self, seen: Seen) -> bool:
        return _is_of_a_node(seen) and seen.value.keys().isdisjoint({"handler", "child"})


def _is_of_a_node(seen: Seen) -> bool:
    """Tell whether a node has not one of `handler` and `child`, rather than a member that does not belong there."""
    return seen.code == "handler_or_child" and seen.array == "nodes"


@mutant("SPC-014")
class TakesSignalsOfAChild(Overlooks):
    """Takes signals on a child's node, for which nobody waits."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "handler_or_child" and seen.key == "signals"


@mutant("SPC-014")
class TakesOutputsOfAChild(Overlooks):
    """Takes `outputs` and `artifacts` on a child's node."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "handler_or_child" and seen.key in {"outputs", "artifacts"}


@mutant("SPC-016", overlaps=("SPC-030", "CHD-006"))
class KeepsNamesInSets(Overlooks):
    """Keeps each array of names as a set, in which nothing stands twice."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "duplicate_name"


@mutant("SPC-016")
class ComparesNeighbouringNames(Overlooks):
    """Compares each name with the one before, as if they were sorted."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "duplicate_name" and seen.above(1)[int(seen.key) - 1] != seen.value


@mutant("SPC-016", overlaps=("SPC-030", "CHD-006"))
class LooksAtDependenciesOnly(Overlooks):
    """Looks for names that stand twice among dependencies and initial nodes, and not among fields and signals."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "duplicate_name" and seen.array in {"inputs", "outputs", "signals"}


@mutant("SPC-016")
class TakesEqualClasses(Overlooks):
    """Takes a retry class that stands twice."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "duplicate_name" and seen.array == "classes"
