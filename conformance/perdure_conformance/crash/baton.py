"""Clients on threads of which one runs at a time: who has the baton gives it on, or keeps it, where it makes a call.

What is chosen at each place where several could run is a number: 0 goes on with the one that runs, 1 with the next one
behind it, and so on. The same numbers make the same interleaving again. Locks that are made while a client runs are
made here, so that a client that waits for one gives the baton on.

Source: "Layers, by value" of the crash design, layer 4.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final

_MOST_PLACES: Final = 20_000
"""A schedule that is longer runs in circles."""

_new_lock = _thread.allocate_lock
_own_name = _thread.get_ident

Choose = Callable[[int], int]
"""Is told how many clients could run, and says which one does; 0 is the one that runs now."""


class Ended(BaseException):
    """Raised in a client whose schedule is over; no journal is to catch it."""


@dataclass(frozen=True, slots=True)
class Switch:
    """One client stopped before a call, and another one went on."""

    stopped: int
    before: str
    """The call that was about to be made."""
    went_on: int
    is_chosen: bool
    """Whether it could have gone on."""


class Client:
    """One of the clients, on a thread of its own."""

    def __init__(self, number: int, baton: Baton) -> None:
        self.number = number
        self.baton = baton
        self.is_done = False
        self.gate = _new_lock()
        self.gate.acquire()
        self.may_go_on: Callable[[], bool] | None = None
        """What it waits for; None if it could run."""
        self.has_time_limit = False
        self.is_out_of_time = False

    @property
    def could_run(self) -> bool:
        """Tell whether it could run now."""
        return not self.is_done and (self.may_go_on is None or self.may_go_on())

    def reach(self, text: str) -> None:
        """Come to a place where another client may go on. Raises `Ended`."""
        self.baton.pass_on(self, text)

    def rest(self, text: str) -> None:
        """Let the next client go on, if one could. Raises `Ended`."""
        self.baton.pass_on(self, text, is_resting=True)

    def wait(self, text: str, may_go_on: Callable[[], bool], *, has_time_limit: bool = False) -> bool:
        """Wait; return whether it came, and not the end of a time limit. Raises `Ended`."""
        self.may_go_on, self.has_time_limit, self.is_out_of_time = may_go_on, has_time_limit, False
        try:
            self.baton.pass_on(self, text)
        finally:
            self.may_go_on, self.has_time_limit = None, False
        return not self.is_out_of_time


class Baton:
    """Who runs, and who ran when."""

    def __init__(self, clients: int, choose: Choose) -> None:
        self.clients: Sequence[Client] = [Client(number, self) for number in range(clients)]
        self.choices: list[int] = []
        self.switches: list[Switch] = []
        self.stuck: str | None = None
        """Why it could not be led to its end, in a sentence."""
        self.is_over = False
        self._choose = choose
        self._places = 0
        self._end = _new_lock()
        self._end.acquire()

    def run(self, program: Callable[[Client], None], timeout_s: float) -> None:
        """Run all clients to their ends."""
        for client in self.clients:
            _thread.start_new_thread(self._live, (client, program))
        self.clients[0].gate.release()
        try:
            is_at_its_end = self._end.acquire(timeout=timeout_s)
        except BaseException:
            self._give_up("it was interrupted")  # No client is to go on in a folder that is taken away.
            raise
        if not is_at_its_end:
            self._give_up("a client waits for something that no other client gives it, such as a lock made on import")

    def pass_on(self, client: Client, text: str, *, is_resting: bool = False) -> None:
        """Choose who goes on; return when it is this client. Raises `Ended`."""
        if self.is_over:
            raise Ended
        self._places += 1
        if self._places > _MOST_PLACES:
            self._give_up("the clients run in circles")
            raise Ended
        following = self._next(client, is_resting=is_resting)
        if following is None:
            self._give_up(f"every client waits, one of them for {text}")
            raise Ended
        if following is client:
            return
        self.switches.append(Switch(client.number, text, following.number, client.could_run))
        following.gate.release()
        client.gate.acquire()
        if self.is_over:
            raise Ended

    def _live(self, client: Client, program: Callable[[Client], None]) -> None:
        client.gate.acquire()
        CLIENTS[_own_name()] = client
        try:
            if not self.is_over:
                program(client)
        except Ended:
            pass
        finally:
            del CLIENTS[_own_name()]
            self._finish(client)

    def _finish(self, client: Client) -> None:
        client.is_done = True
        if self.is_over:
            return
        following = self._next(client, is_resting=False)
        if following is not None:
            following.gate.release()
        elif all(each.is_done for each in self.clients):
            self.is_over = True
            self._end.release()
        else:
            self._give_up("every client waits")

    def _next(self, client: Client, *, is_resting: bool) -> Client | None:
        """Return who goes on; None if nobody could."""
        others = [each for each in self._others(client) if each.could_run]
        own = [client] if client.could_run else []
        could = [*others, *own] if is_resting else [*own, *others]
        if len(could) > 1:
            self.choices.append(self._choose(len(could)))
            return could[self.choices[-1]]
        if could:
            return could[0]
        for each in (*self._others(client), client):
            if each.has_time_limit and not each.is_done:
                each.is_out_of_time, each.has_time_limit, each.may_go_on = True, False, None
                return each
        return None

    def _others(self, client: Client) -> Iterator[Client]:
        count = len(self.clients)
        return (self.clients[(client.number + step) % count] for step in range(1, count))

    def _give_up(self, reason: str) -> None:
        self.stuck = self.stuck or reason
        self.is_over = True
        for client in self.clients:
            if client.gate.locked():
                client.gate.release()
        if self._end.locked():
            self._end.release()


CLIENTS: Final[dict[int, Client]] = {}
"""The clients that live, by the name of their thread."""


def running() -> Client | None:
    """Return the client on whose thread this is asked; None on any other thread."""
    return CLIENTS.get(_own_name())


class Lock:
    """A lock among clients, in place of that of `threading`."""

    def __init__(self, *, is_place: bool = True) -> None:
        self._is_held = False
        self._is_place = is_place

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: FBT001, FBT002 - as in `threading`
        """Take it, as `threading.Lock.acquire` does."""
        client = running()
        if client is not None and self._is_place and blocking:
            client.reach("a lock")
        if self._is_held:
            if client is None or not blocking:
                return False
            if not client.wait("a lock", lambda: not self._is_held, has_time_limit=timeout >= 0):
                return False
        self._is_held = True
        return True

    def release(self) -> None:
        """Let go of it. Raises `RuntimeError` if nobody has it."""
        if not self._is_held:
            raise RuntimeError("release unlocked lock")
        self._is_held = False

    def locked(self) -> bool:
        """Tell whether somebody has it."""
        return self._is_held

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
