from __future__ import annotations

import pytest

from perdure.kernel.identity import is_canonical_uuid, is_name


@pytest.mark.parametrize(
    "text",
    [
        "018f3a5c-0000-7000-8000-0000000000e1",
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ],
)
def test_lowercase_hyphenated_text_is_a_canonical_uuid(text: str) -> None:
    assert is_canonical_uuid(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "018F3A5C-0000-7000-8000-0000000000E1",
        "018f3a5c-0000-7000-8000-0000000000E1",
        "018f3a5c0000700080000000000000e1",
        "{018f3a5c-0000-7000-8000-0000000000e1}",
        "urn:uuid:018f3a5c-0000-7000-8000-0000000000e1",
        "018f3a5c-0000-7000-8000-0000000000e",
        "018f3a5c-0000-7000-8000-0000000000e11",
        "018f3a5-c0000-7000-8000-0000000000e1",
        "018f3a5c-0000-7000-8000-0000000000g1",
        "018f3a5c-0000-7000-8000-0000000000e1\n",
        "\n018f3a5c-0000-7000-8000-0000000000e1",
        " 018f3a5c-0000-7000-8000-0000000000e1",
        "018f3a5c-0000-7000-8000-0000000000e1 ",
        "018f3a5c-0000-7000-8000-0000000000e\N{FULLWIDTH DIGIT ONE}",
        "018f3a5c-0000-7000-8000-0000000000e\N{ARABIC-INDIC DIGIT ONE}",
    ],
)
def test_any_other_text_is_no_canonical_uuid(text: str) -> None:
    assert not is_canonical_uuid(text)


@pytest.mark.parametrize("text", ["a", "Z", "_", "plan", "_a.b-c_9", "A" * 128, "a" + "9" * 127])
def test_a_letter_or_underscore_and_up_to_127_name_characters_are_a_name(text: str) -> None:
    assert is_name(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "9a",
        "-a",
        ".a",
        "a b",
        "a/b",
        "a@1",
        "a:b",
        "A" * 129,
        "a\n",
        "\na",
        "é",
        "a\N{ARABIC-INDIC DIGIT ONE}",
        "a\0",
    ],
)
def test_any_other_text_is_no_name(text: str) -> None:
    assert not is_name(text)
