from __future__ import annotations

from typing import get_args

import pytest

from perdure.kernel.commands import COMMANDS, REJECTION_CODES
from perdure.kernel.errors import EventFault, IncompatibleCode, RecordFault
from perdure.kernel.events import EVENTS
from perdure_conformance.reducer.words import words_of_the_kernel

CODES = (*REJECTION_CODES, *get_args(EventFault), *get_args(RecordFault), *get_args(IncompatibleCode))


@pytest.mark.parametrize("code", CODES)
def test_each_code_stands_in_a_table_of_the_page(code: str) -> None:
    assert words_of_the_kernel()[code].endswith(".")


def test_no_code_stands_there_that_the_kernel_does_not_have() -> None:
    codes = {word for word, meaning in words_of_the_kernel().items() if meaning.startswith(("A refusal", "A fault"))}
    assert codes == set(CODES)


def test_events_commands_and_terms_are_words() -> None:
    known = words_of_the_kernel()
    assert {event.__name__ for event in EVENTS[5]} <= known.keys()
    assert {command.__name__ for command in COMMANDS} <= known.keys()
    assert {"latch", "queue", "closed", "ending", "activation"} <= known.keys()
