"""Questions to what keeps no state: an open implementation, one judgement of it, and cases that ask again."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Generic, Protocol, TypeVar

import msgspec
from msgspec import Meta

from perdure.kernel.values import JsonObject
from perdure_conformance.harness import messages
from perdure_conformance.harness.connection import AdapterFault, Connection, Silence, Silences, Unsupported
from perdure_conformance.harness.targets import Target
from perdure_conformance.harness.transcript import Transcript
from perdure_conformance.judging import Court, replayed
from perdure_conformance.rules import Rules
from perdure_conformance.shrinking import fewest
from perdure_conformance.suite import AnyClaims, Case, Description, Inconclusive, Options, Progress, Replay, Violation
from perdure_conformance.timeline import Moment, Timeline

NAMESPACE: Final = "perdure"

LAPSES: Final = frozenset({"error", "exited"})
"""The faults of one answer: what is opened again may still answer the next question."""
LAPSES_BORNE: Final = 4
"""The next one ends the judgement."""
HISTORY_KEPT: Final = 1_000

AnyDescription = TypeVar("AnyDescription")
Description_co = TypeVar("Description_co", covariant=True)


class Kind(Protocol[Description_co]):
    """What a profile says of its rooms."""

    @property
    def profile(self) -> str:
        """Its name."""
        ...

    @property
    def limits(self) -> msgspec.Struct:
        """What every implementation takes at least."""
        ...

    @property
    def description(self) -> type[Description_co]:
        """What an implementation says of itself."""
        ...


class Room(Generic[AnyDescription]):
    """One implementation, open as long as it answers."""

    def __init__(self, kind: Kind[AnyDescription], target: Target, timeout_s: float) -> None:
        self.transcript = Transcript()
        self.silences = Silences()
        self._kind = kind
        self.target = target
        self._timeout_s = timeout_s
        self._state_dir = Path(tempfile.mkdtemp(prefix="perdure-"))
        self._connection: Connection | None = None
        self._description: AnyDescription | None = None
        self._stderr = ""

    def describe(self) -> AnyDescription:
        """Return who the implementation is and what it claims. Raises `AdapterFault`."""
        self._open()
        assert self._description is not None
        return self._description

    def call(self, method: str, params: JsonObject) -> JsonObject:
        """Return the result. Raises `Inconclusive` at a first silence, `AdapterFault` at a second and for any fault."""
        connection = self._open()
        try:
            return connection.call(method, params)
        except Unsupported:
            self._let_go()
            raise AdapterFault("error", f"{method} is not supported, and nothing can stand for it.") from None
        except Silence as silence:
            self._let_go()
            self.silences.bear(silence, method, self.stderr)
            raise Inconclusive(f"{silence}") from silence
        except AdapterFault:
            self._let_go()
            raise

    def close(self) -> None:
        """End the implementation in good order. Raises `AdapterFault` if it does not."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._stderr = connection.stderr()
            connection.close()

    def remove(self) -> None:
        """End the implementation, and remove what it was given."""
        self._let_go()
        shutil.rmtree(self._state_dir, ignore_errors=True)

    def stderr(self) -> str:
        """Return the end of what the implementation wrote to standard error."""
        return self._connection.stderr() if self._connection is not None else self._stderr

    def _open(self) -> Connection:
        if self._connection is None:
            self._connection = self.target.open(self._timeout_s, self.transcript)
            self._description = self._initialize(self._connection)
        return self._connection

    def _initialize(self, connection: Connection) -> AnyDescription:
        params: JsonObject = {
            "protocol": messages.PROTOCOL,
            "profile": self._kind.profile,
            "state_dir": str(self._state_dir),
            "namespace": NAMESPACE,
            "limits": msgspec.to_builtins(self._kind.limits),
        }
        try:
            return msgspec.convert(connection.call("initialize", params), self._kind.description)
        except Silence as silence:
            self._let_go()
            raise AdapterFault("silence", f"{silence}.", self._stderr) from silence
        except Unsupported:
            self._let_go()
            raise AdapterFault("error", "initialize is not supported.", self._stderr) from None
        except AdapterFault:
            self._let_go()
            raise

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(AdapterFault):
                self._stderr = connection.stderr()
            connection.kill()


class AnyQuestion(Protocol):
    """What a question of any profile tells."""

    @property
    def about(self) -> str:
        """The requirement that it is there for; empty if it was drawn."""
        ...


Question = TypeVar("Question", bound=AnyQuestion)


class QuestionCase(Case, Generic[Question], frozen=True, kw_only=True):
    """All that is needed to fail again: what was asked, the last question being the one that fails."""

    questions: Annotated[tuple[Question, ...], Meta(max_length=HISTORY_KEPT)]
    asked: ClassVar[str] = "questions"
    """What it asks about, in a word."""

    @property
    def needs_prior_state(self) -> bool:
        """Whether it fails only after other questions."""
        return len(self.questions) > 1

    def in_words(self, answers: tuple[str, ...], *, whole: bool) -> list[str]:
        """Return the questions, each with what was answered."""
        shown = self.questions if whole else self.questions[-1:]
        if not shown:
            return ["  (it failed before the first question)"]
        lines = []
        for question in shown:
            lines += ["  " + line for line in self.question_in_words(question)]
            lines += [f"  → {answers[-1]}"] if question is self.questions[-1] and answers else []
        return lines

    def question_in_words(self, question: Question) -> Iterable[str]:
        """Return a question, a line each of what it asks."""
        raise NotImplementedError

    def timeline(self, answers: tuple[str, ...]) -> Timeline:
        """Return the questions, one after the other, with the answer to the last."""
        *before, last = [" ".join(self.question_in_words(question)) for question in self.questions] or [""]
        asked = (*(Moment(0, words) for words in before), Moment(0, last, answers[-1] if answers else ""))
        return Timeline((self.asked,), asked if self.questions else ())


AnyQuestionCase = TypeVar("AnyQuestionCase", bound=QuestionCase[Any])


class QuestionCourt(Court[AnyQuestionCase, AnyClaims], Generic[AnyQuestionCase, AnyClaims, Question]):
    """One judgement under way, by questions."""

    subject: ClassVar[str]
    """What is judged, in a word."""
    counted: ClassVar[str]
    """What its questions are about, in a word."""
    _room: Room[Any]

    def __init__(
        self, room: Room[Any], options: Options, progress: Progress, rules: Rules[AnyClaims], pages: Collection[str]
    ) -> None:
        super().__init__(room.target, options, progress, rules, pages)
        self._room = room
        self._history: list[Question] = []
        self._asked = 0
        self._unanswered: dict[str, None] = {}
        """Requirements that a question was asked for which had no answer, but an exception or an exit."""

    @abstractmethod
    def case(
        self, stop: Violation | AdapterFault, questions: tuple[Question, ...], off: frozenset[str]
    ) -> AnyQuestionCase:
        """Return the case of questions, the last of which failed."""

    def due(self, question: Question) -> str:
        """Return the requirement that an answer decides; empty if none is known."""
        return question.about

    def describe(self) -> Description[AnyClaims]:
        """Learn what is claimed."""
        description: Description[AnyClaims] = self._room.describe()
        return description

    def close(self) -> None:
        """End the implementation in good order."""
        self._room.close()

    def remove(self) -> None:
        """Leave nothing behind, and add up."""
        self._room.remove()
        self.judgement.counts[self.counted] = self._asked
        if self.judgement.lapses:
            faults = self.judgement.faults
            how = "raised" if all(fault.kind == "error" for fault in faults) else "raised or exited"
            share = f"{len(faults)} of {self._asked} {self.counted}"
            told = f"the {self.subject} {how} on {share}, first: {faults[0].sentence}"
            self.judgement.inconclusive.update(dict.fromkeys(self._unanswered, told))

    def bare_case(self, stop: AdapterFault) -> AnyQuestionCase:
        """Return the case without a question."""
        return self.case(stop, (), frozenset())

    def with_history(self, case: AnyQuestionCase) -> AnyQuestionCase:
        """Return a case with the questions before it."""
        before = tuple(self._history[:-1][-HISTORY_KEPT:])
        return msgspec.structs.replace(case, questions=(*before, *case.questions))

    def seen(self, case: AnyQuestionCase) -> str:
        """Return what was said."""
        del case
        return self._room.transcript.text()

    @property
    def off(self) -> frozenset[str]:
        """What is not asked about: what is switched off, and what is known to be broken."""
        return self.options.switched_off | frozenset(self.judgement.findings)

    def put(
        self, question: Question, hold: Callable[[frozenset[str]], None], found_by: str, *, is_kept: bool = True
    ) -> None:
        """Ask one question, and hold the answer against what is right; `is_kept` if later ones may need it."""
        off = self.off
        if is_kept:
            self._history.append(question)
        self._asked += 1
        self._room.silences.during(found_by, *filter(None, (question.about,)))
        try:
            hold(off)
        except Violation as violation:
            self.keep(violation, self.case(violation, (question,), off), found_by)
        except Inconclusive as error:
            if question.about:
                self.judgement.inconclusive[question.about] = f"{error}"
            else:
                self.judgement.cut_short = True
        except AdapterFault as fault:
            self.keep(fault, self.case(fault, (question,), frozenset()), found_by)
            if fault.kind not in LAPSES or len(self.judgement.lapses) >= LAPSES_BORNE:
                raise
            self.judgement.lapses.append(fault)
            due = self.due(question)
            if due:
                self._unanswered[due] = None
            self._history.clear()  # What comes next is asked of another process, or of another object.


def replay_questions(
    case: QuestionCase[Question], room: Room[Any], ask: Callable[[Question], tuple[str, Violation | None]]
) -> Replay:
    """Ask again, in a room of its own: `ask` returns the answer in a word, and what is wrong with it."""
    stop: Violation | AdapterFault | None = None
    answers: list[str] = []
    try:
        for question in case.questions:
            word, stop = ask(question)
            answers.append(word)
        if case.failure.startswith("fault:"):  # It may have failed as it was opened, or as it was closed.
            room.describe()
            room.close()
    except Inconclusive:
        pass
    except AdapterFault as fault:
        stop = fault
    try:
        all_done = len(answers) == len(case.questions)
        return replayed(stop, answers[-1:], all_done=all_done, transcript=room.transcript.text(), stderr=room.stderr)
    finally:
        room.remove()


def violation_in(hold: Callable[[], None]) -> Violation | None:
    """Return what an answer breaks, if it breaks anything."""
    try:
        hold()
    except Violation as violation:
        return violation
    return None


def with_fewer_before(case: AnyQuestionCase, still_fails: Callable[[AnyQuestionCase], bool]) -> AnyQuestionCase:
    """Return the case without the earlier questions that it does not need."""
    *before, last = case.questions
    fewer = fewest(tuple(before), lambda kept: still_fails(msgspec.structs.replace(case, questions=(*kept, last))))
    return msgspec.structs.replace(case, questions=(*fewer, last))
