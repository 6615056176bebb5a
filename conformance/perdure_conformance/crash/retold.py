# Paths are strings here, as they are in calls.
"""What strace printed of a run, told to a recorder call by call, as if each thread stood still once more.

A call is told when it has ended. Others may have run at the same time: what a sync need not have brought is told with
it; and where it matters in which order two calls took effect, nobody knows it, and the trace is no base for a verdict.
So it is with whatever cannot be read or followed. Only the standard library is imported here.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, assert_never

from perdure_conformance.crash import strace
from perdure_conformance.crash.effects import FORKS, Call, Effects
from perdure_conformance.crash.ptrace import Fail, Stop, Watch
from perdure_conformance.crash.recorder import NUMBERS, OF_ANOTHER_ARCHITECTURE, Recorder, ended_within, rules
from perdure_conformance.crash.replay import Fault
from perdure_conformance.crash.shadow import Shadow
from perdure_conformance.crash.strace import Begun, Ended, Line, Remark, Result, Resumed, Superseded, Unreadable
from perdure_conformance.crash.system import HERE, Key

_SHOWN_CHARACTERS: Final = 100
_RULES: Final = tuple(rules(with_reads=False))


class Retold:
    """One run; what was there before is told at once.

    `said` is where standard output leads, as it is printed, and `said_to` what it is.
    """

    def __init__(
        self,
        state: str,
        said_to: Key,
        said: str,
        rebuildable: Sequence[str],
        tell: Callable[[str], None],
        fault: Fault,
    ) -> None:
        self._tell = tell
        self._told = 0
        self._shadow = Shadow(state, said_to, said)
        self._recorder = Recorder(state, said_to, fault, rebuildable, self._count, self._shadow)
        self._numbers: dict[int, int] = {}
        """The number of each thread that there is."""
        self._seen = 0
        self._made: defaultdict[int, Counter[str]] = defaultdict(Counter)
        """How many calls of each name a thread has made."""
        self._inside: dict[int, Call] = {}
        """The call that a thread is in."""
        self._effects = Effects(self._shadow, lambda call, sentence: self._blind(call.thread, sentence))

    def _count(self, line: str) -> None:
        self._told += line.startswith('{"type": "Done"')
        self._tell(line)

    def end(self, status: int) -> None:
        """Note how the program ended."""
        self._recorder.end(status)

    def read(self, printed: Iterable[str]) -> None:
        """Tell what was printed: whole lines, and what stands behind the last one."""
        *whole, last = printed
        lines = [_line(each) for each in whole]
        if last:
            lines.append(Unreadable(last))
        children = _children(lines)
        for index, line in enumerate(lines):
            try:
                self._take(line, children.get(index))
            except Exception as error:  # noqa: BLE001 - whatever it is, the program is not at fault
                self._cannot_follow(line, error)
        for call in list(self._inside.values()):
            self._lose(call)

    def _take(self, line: Line | Unreadable, child: int | None) -> None:
        if isinstance(line, Unreadable):
            raise line
        if line.thread not in self._numbers:
            self._begin(line.thread)
        match line:
            case Begun(thread, name, text, result):
                self._enter(Call(name, thread, text, self._told, child))
                if result is not None:
                    self._leave(self._inside.pop(thread), result)
            case Resumed(thread, _, text, result):
                call = self._inside.pop(thread)
                call.text += text
                call.arguments = strace.arguments(call.text)
                self._leave(call, result)
            case Ended(thread):
                self._gone(thread)
            case Superseded(thread, former):
                self._become_main(thread, former)
            case Remark(thread, sentence):
                if sentence is not None and " 64 bit " not in sentence:
                    self._blind(thread, OF_ANOTHER_ARCHITECTURE)
            case _:
                assert_never(line)

    # Threads

    def _begin(self, thread: int) -> None:
        self._numbers[thread] = self._seen
        self._seen += 1
        threads = self._shadow.threads
        if thread in threads:
            return
        if not threads:
            self._shadow.begin(thread)
        elif born := self._effects.born.get(thread):
            threads[thread] = born.pop(0)
        else:
            maker = next((call for call in self._inside.values() if call.child == thread), None)
            if maker is None:
                raise Unreadable(f"{thread} began")
            threads[thread] = self._effects.child_of(maker)
            maker.child = None

    def _become_main(self, thread: int, former: int) -> None:
        """Let a thread go by the number of its process: it has become another program, and all others are gone."""
        call = self._inside.pop(former)
        call.thread = thread
        self._inside[thread] = call
        self._shadow.threads[thread] = self._shadow.threads.pop(former)
        self._numbers.pop(former)
        self._made[thread] = self._made.pop(former)

    def _gone(self, thread: int) -> None:
        call = self._inside.pop(thread, None)
        if call is not None:
            self._lose(call)
        for each in (self._shadow.threads, self._numbers, self._made):
            each.pop(thread, None)

    def _lose(self, call: Call) -> None:
        if any(access.changes for access in call.accesses):
            self._blind(call.thread, ended_within(call.name))

    # Calls

    def _enter(self, call: Call) -> None:
        """Note what a call depends on; what leads to a file is compared with what was printed of it."""
        self._inside[call.thread] = call
        self._made[call.thread][call.name] += 1
        call.thread_ordinal = self._made[call.thread][call.name]
        call.arguments = strace.arguments(call.text)
        others = [each for each in self._inside.values() if each is not call]
        if not any(access.what[0] == "name" and access.changes for each in others for access in each.accesses):
            self._compare(call)
        if call.name == "close":
            self._effects.of(call, Result(0))
            return
        call.accesses = list(self._effects.accesses(call))
        conflicting = (
            each.name
            for each in others
            if any(one.conflicts_with(another) for one in each.accesses for another in call.accesses)
        )
        call.conflicting = next(conflicting, None)

    def _compare(self, call: Call) -> None:
        thread = self._shadow.threads[call.thread]
        for descriptor, path in call.arguments.descriptors.items():
            opened = thread.table.opened.get(descriptor)
            is_named = descriptor not in call.arguments.unnamed and not self._is_said_to_be_deleted(path)
            if descriptor == HERE:
                thread.folder.at = (self._shadow.walk(path) if is_named else None) or thread.folder.at
            elif opened is None:
                is_unknown = self._shadow.is_below(path) and call.name != "close"
            else:
                is_unknown = is_named and path not in self._shadow.paths_of(opened.node)
            if descriptor != HERE and is_unknown:
                shown = os.path.relpath(path, self._shadow.state)
                self._blind(call.thread, f"a descriptor of {shown} came from where nobody looked")

    def _is_said_to_be_deleted(self, path: str) -> bool:
        """Tell whether a path ends as older ones print it, and is not called so."""
        return path.endswith(" (deleted)") and self._shadow.node(path) is None

    def _leave(self, call: Call, ended: str) -> None:
        result = strace.result(ended)
        if not result.is_known:
            self._lose(call)
            return
        if call.conflicting is not None and result.value >= 0:
            sentence = f"{call.name} and {call.conflicting} ran at the same time, and nobody knows which came first"
            self._blind(call.thread, sentence)
        self._shadow.texts = call.arguments.texts
        self._shadow.annotated = call.arguments.descriptors
        decision = self._recorder.about_to(self._stop(call)) if self._is_told(call) else None
        if isinstance(decision, Fail) != result.is_injected:
            self._blind(call.thread, f"the trace diverged: it was not this {call.name} that was to fail")
        if result.value >= 0:
            self._effects.of(call, result)
        if isinstance(decision, Watch):
            decision.ended(result.value)
            if call.arguments.is_cut or result.value > self._effects.printed(call, result):
                self._blind(call.thread, f"what strace printed of {call.name} is cut short")

    def _stop(self, call: Call) -> Stop:
        began = call.began if call.began != self._told else None
        one, two, three, four, five, six = ((value or 0) % 2**64 for value in _six(call))
        number = self._numbers.get(call.thread, 0)
        return Stop(
            call.thread,
            number,
            NUMBERS.get(call.name, 0),
            (one, two, three, four, five, six),
            began,
            call.thread_ordinal,
        )

    def _is_told(self, call: Call) -> bool:
        """Tell whether it is one at which a thread would have been stopped."""
        if call.name not in NUMBERS:
            return False
        values = [0 if value is None else value & 0xFFFFFFFF for value in _six(call)]
        return any(
            all(values[index] & bits for index, bits in rule.bits)
            and all(values[index] == equal for index, equal in rule.equal)
            for rule in _RULES
            if rule.call == NUMBERS[call.name]
        )

    def _cannot_follow(self, line: Line | Unreadable, error: Exception) -> None:
        shown = f"{line.call}({line.text})" if isinstance(line, Begun | Resumed) else f"{line}"
        if isinstance(error, Unreadable):
            shown = f"{error}"
        thread = 0 if isinstance(line, Unreadable) else line.thread
        self._blind(thread, f"what strace printed cannot be followed: {shown[:_SHOWN_CHARACTERS]!a}")

    def _blind(self, thread: int, sentence: str) -> None:
        self._recorder.blind(Stop(thread, self._numbers.get(thread, 0), 0, (0, 0, 0, 0, 0, 0)), sentence)


def _line(text: str) -> Line | Unreadable:
    try:
        return strace.line(text)
    except Unreadable as error:
        return error


def _children(lines: Sequence[Line | Unreadable]) -> Mapping[int, int]:
    """Return the thread that each call has started, by the line in which the call begins."""
    begun: dict[int, tuple[int, str]] = {}
    children: dict[int, int] = {}
    for index, line in enumerate(lines):
        if isinstance(line, Begun):
            begun[line.thread] = (index, line.call)
        if isinstance(line, Superseded) and line.former in begun:
            begun[line.thread] = begun.pop(line.former)
        if isinstance(line, Begun | Resumed) and line.result is not None and line.thread in begun:
            at, name = begun.pop(line.thread)
            if name in FORKS and line.result.isdecimal():
                children[at] = int(line.result)
    return children


def _six(call: Call) -> Sequence[int | None]:
    """Return the arguments as the system counts them: it takes an offset in two."""
    values = call.arguments.values
    if call.name == "pwritev2":
        values = [*values[:4], 0, *values[4:]]
    return [*values, 0, 0, 0, 0, 0, 0][:6]
