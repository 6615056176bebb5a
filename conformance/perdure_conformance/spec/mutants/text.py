"""Faults of reading, measuring and hashing a document: SPC-001, SPC-002, SPC-009 to SPC-012."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

import msgspec

from perdure.kernel.outcomes import MAX_INLINE_BYTES
from perdure.kernel.specification import MAX_DOCUMENT_BYTES, MAX_DOCUMENT_DEPTH, covered_by_hash
from perdure.kernel.validation.handlers import Handlers
from perdure.kernel.validation.validator import Validation, validate
from perdure.kernel.values import (
    MAX_SAFE_INTEGER,
    Digest,
    JsonError,
    JsonErrorCode,
    JsonValue,
    canonical_json,
    nesting,
    read_json,
)
from perdure_conformance.spec.documents import Value
from perdure_conformance.spec.mutants.faults import (
    Complains,
    Complaint,
    Forgives,
    Knows,
    Look,
    Overlooks,
    RefusesText,
    Seen,
    compact,
    made_up,
    values,
)
from perdure_conformance.spec.registry import mutant

# Reading


@mutant("SPC-001", report="mepuka/foldlab#49")
class TakesTheLastOfTwoKeys(Forgives):
    """Takes the last of two equal keys, as most parsers do."""

    forgives: ClassVar[JsonErrorCode] = "duplicate_key"

    def read(self, text: str) -> JsonValue:
        return _loaded(text)


@mutant("SPC-001", report="mepuka/foldlab#49")
class LooksForTwoKeysAtTheTop(Forgives):
    """Looks for duplicate keys in the outermost object, and nowhere else."""

    forgives: ClassVar[JsonErrorCode] = "duplicate_key"

    def read(self, text: str) -> JsonValue:
        objects: list[list[str]] = []

        def keep(pairs: list[tuple[str, JsonValue]]) -> JsonValue:
            objects.append([key for key, _ in pairs])
            return dict(pairs)

        read = _loaded(text, object_pairs_hook=keep)
        if len(set(objects[-1])) < len(objects[-1]):
            raise ValueError
        return read


@mutant("SPC-001", report="elsa-workflows/elsa-core#6639")
class TakesNaN(Forgives):
    """Takes NaN and Infinity for numbers, as JSON libraries do unless they are told not to."""

    forgives: ClassVar[JsonErrorCode] = "not_json"

    def read(self, text: str) -> JsonValue:
        return _loaded(text, parse_constant=lambda _: 1)


@mutant("SPC-001", report="elsa-workflows/elsa-core#6639")
class TakesWhatOverflows(Forgives):
    """Takes a number that is too large for a double, and makes an infinity of it."""

    forgives: ClassVar[JsonErrorCode] = "number_out_of_range"

    def read(self, text: str) -> JsonValue:
        return _loaded(text, parse_float=lambda digits: min(float(digits), sys.float_info.max))


@mutant("SPC-001", report="everruns/everruns#1031")
class ReplacesLoneSurrogates(Forgives):
    """Replaces a lone surrogate by U+FFFD and reads on."""

    forgives: ClassVar[JsonErrorCode] = "lone_surrogate"

    def read(self, text: str) -> JsonValue:
        replaced = re.sub(r"(?i)\\u[d][89a-f][0-9a-f]{2}", "\ufffd", text)
        return _loaded(replaced)


@mutant("SPC-001", report="JiRaska/open-bank-oss#3505")
class RoundsBigIntegers(Forgives):
    """Reads each number as a double, so that integers beyond 2^53 are rounded silently."""

    forgives: ClassVar[JsonErrorCode] = "number_out_of_range"

    def read(self, text: str) -> JsonValue:
        return _loaded(text, parse_int=lambda digits: _nearest(float(digits)))


@mutant("SPC-001", report="JiRaska/open-bank-oss#3505")
class TakesBigIntegersWithAnExponent(Forgives):
    """Holds what is written as an integer against 2^53, and takes 1e16 for a fraction."""

    forgives: ClassVar[JsonErrorCode] = "number_out_of_range"

    def read(self, text: str) -> JsonValue:
        return _loaded(text, parse_float=lambda digits: _nearest(float(digits)))


@mutant("SPC-001")
class StopsAfterTheFirstValue(Forgives):
    """Reads one value from the text and does not look whether anything follows."""

    forgives: ClassVar[JsonErrorCode] = "not_json"

    def read(self, text: str) -> JsonValue:
        value: JsonValue
        value, _ = json.JSONDecoder().raw_decode(text.lstrip())
        return value


@mutant("SPC-001")
class SkipsAByteOrderMark(Forgives):
    """Skips a byte order mark before the document, as some readers of files do."""

    forgives: ClassVar[JsonErrorCode] = "not_json"

    def read(self, text: str) -> JsonValue:
        return _loaded(text.removeprefix("\ufeff"))


@mutant("SPC-001")
class TakesTrailingCommas(Forgives):
    """Allows a comma after the last member, as editors' own JSON does."""

    forgives: ClassVar[JsonErrorCode] = "not_json"

    def read(self, text: str) -> JsonValue:
        return _loaded(re.sub(r",(\s*[}\]])", r"\1", text))


@mutant("SPC-001")
class TakesControlCharacters(Forgives):
    """Takes a line feed or a tab that stands in a string as it is."""

    forgives: ClassVar[JsonErrorCode] = "not_json"

    def read(self, text: str) -> JsonValue:
        return _loaded(text, strict=False)


@mutant("SPC-001", overlaps=("SPC-002", "SPC-031"))
class RefusesNoncharacters(RefusesText):
    """Refuses U+FFFE and its like, which are code points as any other."""

    def refuses(self, text: str) -> bool:
        return any(_is_noncharacter(char) for char in compact(read_json(text)))


def _is_noncharacter(char: str) -> bool:
    return ord(char) & 0xFFFE == 0xFFFE or "\ufdd0" <= char <= "\ufdef"


@mutant("SPC-001", overlaps=("SPC-002", "SPC-011", "SPC-012", "SPC-031"))
class RefusesBigDoubles(RefusesText):
    """Takes 1e300 for an integer that is too large."""

    def refuses(self, text: str) -> bool:
        numbers = (value for _, value in values([_read(text)]) if isinstance(value, float))
        return any(number.is_integer() and abs(number) > MAX_SAFE_INTEGER for number in numbers)


@mutant("SPC-002", overlaps=("SPC-003", "SPC-011", "SPC-012", "SPC-031"))
class TakesWholeFloatsForFractions(Knows):
    """Refuses 1.0 where an integer is expected, for it was written with a point."""

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        found = super().find(text, handlers)
        return validate(json.loads(text, parse_float=_Float), handlers) if found.valid else found


class _Float(float):
    def is_integer(self) -> bool:
        return False


@mutant("SPC-002", overlaps=("SPC-011", "SPC-012", "SPC-031"))
class WantsTheVersionFirst(RefusesText):
    """Wants `schema_version` to be the first member, so that it can choose a decoder."""

    def refuses(self, text: str) -> bool:
        document = _read(text)
        return isinstance(document, Mapping) and next(iter(document), "") != "schema_version"


@mutant("SPC-002", overlaps=("SPC-001",))
class KnowsNoEscapedKeys(RefusesText):
    r"""Compares keys as they are spelled, so that `\u0069d` is not `id`."""

    def refuses(self, text: str) -> bool:
        return re.search(r'\\u[0-9a-fA-F]{4}[^"\\,:]{0,64}"\s*:', text) is not None


@mutant("SPC-002", overlaps=("SPC-001", "SPC-009", "SPC-012"))
class RefusesSpaceAround(RefusesText):
    """Refuses a line feed after the document, or before it."""

    def refuses(self, text: str) -> bool:
        return text != text.strip()


# Measuring


def _size(value: JsonValue) -> int:
    return len(canonical_json(value))


@mutant("SPC-009")
class MeasuresTheTextOfADocument(RefusesText):
    """Holds the text as it was sent against the limit of the canonical form."""

    def refuses(self, text: str) -> bool:
        return len(text.encode()) > MAX_DOCUMENT_BYTES


@mutant("SPC-009")
class CountsCharactersOfADocument(Overlooks):
    """Counts the characters of a document where bytes are meant."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "document_too_large" and len(compact(seen.look.document)) <= MAX_DOCUMENT_BYTES


@mutant("SPC-009")
class MeasuresADocumentWithoutItsHash(Overlooks):
    """Measures what the hash covers, and forgets that the hash itself is stored too."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "document_too_large" and _size(covered_by_hash(seen.look.document)) <= MAX_DOCUMENT_BYTES


@mutant("SPC-009")
class RefusesADocumentAtTheLimit(Complains):
    """Refuses a document of exactly 15 MiB: >= where it should be >."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        if len(look.text) > MAX_DOCUMENT_BYTES // 4 and _size(look.document) == MAX_DOCUMENT_BYTES:
            yield "document_too_large", ""


@mutant("SPC-009")
class CountsTheOutermostObjectAsZero(Overlooks):
    """Counts levels from the outermost object on without it, and so takes one more."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "document_too_deep" and nesting(seen.look.document) == MAX_DOCUMENT_DEPTH + 1


@mutant("SPC-009")
class NeverMeasuresADocument(Overlooks):
    """Takes documents of any size and depth, and fails when the record is written."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code in {"document_too_large", "document_too_deep"}


@mutant("SPC-009")
class RefusesADocumentAtTheDepth(Complains):
    """Refuses a document that nests exactly 90 deep."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        if nesting(look.document) == MAX_DOCUMENT_DEPTH:
            yield "document_too_deep", ""


@mutant("SPC-010")
class CountsCharactersOfInput(Overlooks):
    """Counts the characters of an input where bytes are meant."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "input_too_large" and len(canonical_json(seen.value).decode()) <= MAX_INLINE_BYTES


@mutant("SPC-010")
class NeverMeasuresInput(Overlooks):
    """Takes input of any size."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "input_too_large"


class _MeasuresInput(Complains):
    """It measures input in its own way."""

    def is_too_large(self, value: JsonValue) -> bool:
        """Tell whether an input is too large."""
        raise NotImplementedError

    def complaints(self, look: Look) -> Iterator[Complaint]:
        for scope in look.scopes:
            for node in scope.definition.nodes:
                if self.is_too_large(node.input):
                    yield "input_too_large", f"{scope.at(node)}/input"


@mutant("SPC-010")
class RefusesInputAtTheLimit(_MeasuresInput):
    """Refuses an input of exactly 65,536 bytes: >= where it should be >."""

    def is_too_large(self, value: JsonValue) -> bool:
        return _size(value) == MAX_INLINE_BYTES


@mutant("SPC-010")
class MeasuresEscapedInput(_MeasuresInput):
    r"""Measures input as ASCII, in which each letter beyond it is a `\u` and four digits."""

    def is_too_large(self, value: JsonValue) -> bool:
        return len(json.dumps(value, separators=(",", ":"))) > MAX_INLINE_BYTES


@mutant("SPC-010")
class MeasuresInputWithSpaces(_MeasuresInput):
    """Measures input as its library prints it, with spaces after commas and colons."""

    def is_too_large(self, value: JsonValue) -> bool:
        return len(json.dumps(value, ensure_ascii=False).encode()) > MAX_INLINE_BYTES


@mutant("SPC-010")
class AddsUpAllInput(Complains):
    """Holds the input of all nodes together against the limit of one."""

    def complaints(self, look: Look) -> Iterator[Complaint]:
        inputs = [node.input for scope in look.scopes for node in scope.definition.nodes]
        if sum(_size(value) for value in inputs) > MAX_INLINE_BYTES:
            yield "input_too_large", ""


# Hashing


@mutant("SPC-011")
class NeverLooksAtTheHash(Overlooks):
    """Takes `content_hash` for a comment."""

    def overlooks(self, seen: Seen) -> bool:
        return seen.code == "wrong_content_hash"


@mutant("SPC-011")
class ComparesTheShortHash(Overlooks):
    """Compares the first eight digits of the hash, as they are shown to people."""

    def overlooks(self, seen: Seen) -> bool:
        correction = seen.problem.correction
        return (
            seen.code == "wrong_content_hash"
            and correction is not None
            and _eight(correction.value) == _eight(seen.value)
        )


def _eight(value: JsonValue) -> str:
    return str(value)[:8]


class _ChecksAnotherHash(Knows):
    """It holds `content_hash` against a digest of something else."""

    def hashed(self, document: Value) -> str:
        """Return the text that it takes the digest of."""
        raise NotImplementedError

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        found = super().find(text, handlers)
        document = _read(text)
        if not isinstance(document, Mapping) or not isinstance(document.get("content_hash"), str):
            return found
        left = [problem for problem in found.problems if problem.code != "wrong_content_hash"]
        wrong = document["content_hash"] != _sha256(self.hashed(document))
        more = [made_up("wrong_content_hash", "/content_hash")] if wrong else []
        return msgspec.structs.replace(found, problems=(*left, *more))


@mutant("SPC-011", overlaps=("SPC-002", "SPC-012"))
class ChecksTheHashOfTheOrder(_ChecksAnotherHash):
    """Checks the hash over the members in the order in which they were written."""

    def hashed(self, document: Value) -> str:
        return compact(covered_by_hash(document))


@mutant("SPC-011", overlaps=("SPC-002", "SPC-012"))
class ChecksTheHashWithItself(_ChecksAnotherHash):
    """Checks the hash over the whole document, the hash included, which never is right."""

    def hashed(self, document: Value) -> str:
        return canonical_json(document).decode()


class _TellsAnotherHash(Knows):
    """It tells the digest of something else."""

    def hashed(self, text: str) -> str:
        """Return the text that it takes the digest of."""
        raise NotImplementedError

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        found = super().find(text, handlers)
        return msgspec.structs.replace(found, content_hash=_sha256(self.hashed(text))) if found.valid else found


@mutant("SPC-012")
class HashesTheText(_TellsAnotherHash):
    """Hashes the text as it was sent."""

    def hashed(self, text: str) -> str:
        return text


@mutant("SPC-012")
class HashesTheOrder(_TellsAnotherHash):
    """Hashes the members in the order in which they were written."""

    def hashed(self, text: str) -> str:
        return compact(_covered(text))


@mutant("SPC-012")
class HashesEscapedText(_TellsAnotherHash):
    """Hashes ASCII text, in which everything else is escaped."""

    def hashed(self, text: str) -> str:
        return canonical_json(_covered(text)).decode().encode("ascii", "backslashreplace").decode()


@mutant("SPC-012")
class HashesWithoutTheSchema(_TellsAnotherHash):
    """Leaves `$schema` out, which is for editors only."""

    def hashed(self, text: str) -> str:
        return canonical_json({key: item for key, item in _covered(text).items() if key != "$schema"}).decode()


@mutant("SPC-012")
class HashesTheHash(_TellsAnotherHash):
    """Leaves `content_hash` in what is hashed."""

    def hashed(self, text: str) -> str:
        return canonical_json(read_json(text)).decode()


@mutant("SPC-012")
class HashesWhatItUnderstood(Knows):
    """Hashes the decoded document, in which a default that was written out is gone."""

    def find(self, text: str, handlers: Handlers | None) -> Validation:
        found = super().find(text, handlers)
        if found.specification is None:
            return found
        understood = canonical_json(covered_by_hash(msgspec.to_builtins(found.specification)))
        return msgspec.structs.replace(found, content_hash=_sha256(understood.decode()))


@mutant("SPC-012")
class NormalisesBeforeHashing(_TellsAnotherHash):
    """Normalises text to NFC before it hashes it."""

    def hashed(self, text: str) -> str:
        return unicodedata.normalize("NFC", canonical_json(_covered(text)).decode())


@mutant("SPC-012")
class SortsKeysByCodePoint(_TellsAnotherHash):
    """Sorts keys by code point, where RFC 8785 sorts by UTF-16 code unit."""

    def hashed(self, text: str) -> str:
        return _written(_covered(text), lambda scalar: canonical_json(scalar).decode())


@mutant("SPC-012")
class WritesNumbersAsItLikes(_TellsAnotherHash):
    """Writes fractions as its language does, 1e-07 and not 1e-7."""

    def hashed(self, text: str) -> str:
        return _written(_covered(text), compact, order=lambda key: key.encode("utf-16-be"))


def _written(value: JsonValue, scalar: Callable[[JsonValue], str], order: Callable[[str], object] = str) -> str:
    if isinstance(value, Mapping):
        keys = sorted(value, key=order)  # type: ignore[arg-type]
        members = ",".join(f"{scalar(key)}:{_written(value[key], scalar, order)}" for key in keys)
        return f"{{{members}}}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{','.join(_written(item, scalar, order) for item in value)}]"
    return scalar(value)


def _sha256(text: str) -> Digest:
    return Digest(hashlib.sha256(text.encode()).hexdigest())


def _loaded(text: str, **options: Value) -> JsonValue:
    value: JsonValue = json.loads(text, **options)
    return value


def _nearest(number: float) -> int | float:
    return max(-MAX_SAFE_INTEGER, min(MAX_SAFE_INTEGER, int(number))) if number.is_integer() else number


def _covered(text: str) -> Mapping[str, JsonValue]:
    document = read_json(text)
    assert isinstance(document, Mapping)
    return covered_by_hash(document)


def _read(text: str) -> Value:
    try:
        return read_json(text)
    except JsonError:
        return None
