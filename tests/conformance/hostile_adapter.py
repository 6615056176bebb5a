"""Adapters that break protocol 1, each in its own way, to try the harness with.

Usage::

    python3 hostile_adapter.py MODE [NTH]
    python3 hostile_adapter.py --list

Each mode is one small function below, named after it and described by its docstring.
There are four kinds, told apart by their decorator:

``@start``
    The function is the whole program; it may serve honestly afterwards.
``@opening``
    Honest, but the answer to ``initialize`` is tampered with.
``@middle(method)``
    Honest until the NTH request (by default the 2nd) of that method. The request is
    carried out first; what the function returns is sent in place of the honest line.
    If it returns, honest service is resumed.
``@throughout``
    The function has a say in every answer.

The modes whose names begin with ``honest`` keep to the protocol, and must not be
failed.

Nothing is left behind for ever. Every process ends when its standard input is closed
or, where the mode is about not doing so, at the latest `LIFETIME` seconds after the
last request that was served. Children that outlive their adapter live for `LIFETIME`
seconds. POSIX only.
"""

from __future__ import annotations

import fcntl
import json
import os
import resource
import select
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

Json = dict[str, Any]

STDIN, STDOUT, STDERR = 0, 1, 2
LIFETIME = 60
KIB = 1024
MIB = 1024 * KIB
FLOOR = {"max_batch_records": 1000, "max_batch_bytes": MIB, "max_snapshot_bytes": MIB}
ANSI = "\x1b]0;owned\x07\x1b[2J\x1b[31;5mPASSED\x1b[0m\r\x08\x9b1A\u202e"

MARKUP = (
    "]]><script>alert(1)</script>|[x](http://a.example)\n::error::\n##[error]{{7*7}}{% x %}`\x00\u202e"
    "<img src=x onerror=y>" + ANSI
)


# --- The wire -------------------------------------------------------------------------


def line(message: object) -> bytes:
    """Encode one message as one line."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return text.encode() + b"\n"


def send(data: bytes, fd: int = STDOUT) -> None:
    """Write all of it, past any buffer of the interpreter's."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def drain() -> None:
    """Read standard input, to no purpose, until it ends."""
    while os.read(STDIN, 64 * KIB):
        pass


def hush() -> NoReturn:
    """Say nothing more; exit when standard input ends."""
    drain()
    sys.exit(0)


def wait_for_hangup(fd: int) -> NoReturn:
    """Exit when the other end of a pipe is closed, without reading from it."""
    poller = select.poll()
    poller.register(fd, getattr(select, "POLLRDHUP", 0))
    poller.poll()
    sys.exit(0)


def leave_at_end_of_input() -> None:
    """Read standard input in a thread, and end the process when it ends."""

    def watch() -> None:
        drain()
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def spill(fd: int, chunk: bytes) -> None:
    """Write the same for ever, or until nobody can read it any more.

    The short pause keeps it to some tens of megabytes a second: enough to overrun
    whoever keeps everything, and not enough to take the whole machine along.
    """
    with suppress(OSError):
        while True:
            send(chunk, fd)
            time.sleep(0.001)


def flood(fd: int, chunk: bytes) -> NoReturn:
    """Do nothing but `spill` until standard input ends."""
    leave_at_end_of_input()
    spill(fd, chunk)
    sys.exit(0)


def live_on() -> None:
    """Put off the end by `LIFETIME` seconds from now."""
    signal.alarm(LIFETIME)


# --- The honest journal ---------------------------------------------------------------


class Journal:
    """A minimal journal in memory: append and load, by the protocol."""

    def __init__(self) -> None:
        """Begin empty, with the least limits the protocol allows."""
        self.runs: dict[str, dict[str, Json]] = {}
        self.limits = dict(FLOOR)

    @property
    def line_limit(self) -> int:
        """The longest line allowed, in bytes."""
        larger = max(self.limits["max_batch_bytes"], self.limits["max_snapshot_bytes"])
        return 2 * larger + 64 * KIB

    def agree(self, ours: Json, theirs: Json) -> None:
        """Put the smaller of the two sides' limits in force."""
        self.limits = {name: min(int(ours[name]), theirs[name]) for name in FLOOR}

    def call(self, method: str, params: Json) -> Json:
        """Carry out one request; return what goes beside ``id`` in the reply."""
        match method:
            case "initialize":
                return {"result": greeting()}
            case "append":
                return {"result": self.append(params)}
            case "load":
                return {"result": self.load(params)}
            case "shutdown":
                return {"result": {}}
            case _:
                pass
        message = f"method not found: {method}"
        return {"error": {"code": -32601, "message": message}}

    def append(self, params: Json) -> Json:
        """Append a batch, all of it or nothing; a repeated batch changes nothing."""
        records: list[Json] = params["records"]
        first: int = params["expected_next"]
        try:
            size = sum(len(record["body"].encode()) for record in records)
        except UnicodeEncodeError:
            return {"refused": "invalid_record", "detail": "body is not Unicode"}
        sequences = [record["sequence"] for record in records]
        ids = {record["event_id"] for record in records}
        contiguous = sequences == list(range(first, first + len(records)))
        if first < 1 or not records or not contiguous or len(ids) < len(records):
            return {"refused": "invalid_record"}
        if len(records) > self.limits["max_batch_records"] or size > self.limits["max_batch_bytes"]:
            return {"refused": "too_large"}
        run = self.runs.setdefault(params["run_id"], {})
        known = [run.get(record["event_id"]) for record in records]
        if known != records:
            if any(old and old != new for old, new in zip(known, records, strict=True)):
                return {"refused": "event_id_conflict"}
            if first != len(run) + 1:
                return {"refused": "sequence_conflict", "actual_next": len(run) + 1}
            run.update((record["event_id"], record) for record in records)
        return acknowledgement(records)

    def load(self, params: Json) -> Json:
        """Load a page; one that would make too long a line ends early."""
        run = list(self.runs.get(params["run_id"], {}).values())
        start: int = params["from_sequence"] - 1
        page: list[Json] = []
        room = self.line_limit - KIB
        for record in run[start : start + params["limit"]]:
            room -= len(line(record))
            if room < 0 and page:
                break
            page.append(record)
        return {"records": page, "end": start + len(page) >= len(run)}


def greeting() -> Json:
    """Return an honest result of ``initialize``."""
    return {
        "protocol": 1,
        "name": "hostile",
        "version": "1.0.0",
        "capabilities": {
            "exact_replay": True,
            "event_id_dedup": True,
            "atomic_batch": True,
        },
        "limits": dict(FLOOR),
    }


def acknowledgement(records: list[Json]) -> Json:
    """Return the result of ``append`` that acknowledges these records."""
    keys = ("sequence", "event_id")
    return {"acknowledged": [{key: record[key] for key in keys} for record in records]}


def made_up(sequence: int) -> Json:
    """Return a record that nobody has appended."""
    event_id = f"00000000-0000-7000-8000-{sequence:012x}"
    return {"sequence": sequence, "event_id": event_id, "body": "{}"}


# --- Serving, honestly or not ---------------------------------------------------------


@dataclass(frozen=True)
class Exchange:
    """A request, already carried out, and the honest reply to it."""

    method: str
    params: Json
    reply: Json
    count: int
    """How many requests of this method there have been, this one included."""
    line_limit: int

    @property
    def result(self) -> Json:
        """The honest result, open to change."""
        result: Json = self.reply["result"]
        return result

    @property
    def number(self) -> int:
        """The number in the id, or 0 if there is none."""
        digits = str(self.reply["id"]).rpartition("-")[2]
        return int(digits) if digits.isdecimal() else 0

    def honest(self) -> bytes:
        """The line that an honest adapter sends."""
        return line(self.reply)

    def instead(self, result: object) -> bytes:
        """A line with this result in place of the honest one."""
        return line({**self.reply, "result": result})

    def without_result(self) -> Json:
        """The reply with the result left out."""
        return {key: value for key, value in self.reply.items() if key != "result"}

    def raw(self, result: bytes) -> bytes:
        """A line with these very bytes for a result, JSON or not."""
        return line(self.without_result())[:-2] + b',"result":' + result + b"}\n"

    def padded(self, length: int) -> bytes:
        """The honest line filled up with spaces to a length, its LF included."""
        return self.honest()[:-1].ljust(length - 1) + b"\n"


Answer = Callable[[Exchange], bytes]


def serve(answer: Answer = Exchange.honest, write: Callable[[bytes], None] = send) -> None:
    """Serve until standard input ends or a ``shutdown`` has been answered."""
    journal = Journal()
    counts: Counter[str] = Counter()
    for text in iter(sys.stdin.buffer.readline, b""):
        live_on()
        request: Json = json.loads(text)
        method: str = request["method"]
        params: Json = request.get("params", {})
        reply = {"jsonrpc": "2.0", "id": request["id"], **journal.call(method, params)}
        counts[method] += 1
        exchange = Exchange(method, params, reply, counts[method], journal.line_limit)
        data = answer(exchange)
        write(data)
        if method == "initialize":
            journal.agree(exchange.result["limits"], params["limits"])
        if method == "shutdown" and data:
            return


MODES: dict[str, Callable[[int], None]] = {}


def register(act: Callable[..., object], run: Callable[[int], None]) -> None:
    """Enter a mode under the name of its function."""
    MODES[act.__name__.replace("_", "-")] = run


def start(act: Callable[[], None]) -> Callable[[], None]:
    """Make a mode of a whole program."""
    register(act, lambda _: act())
    return act


def opening(tamper: Callable[[Json], None]) -> Callable[[Json], None]:
    """Make a mode of a function that changes the result of ``initialize``."""

    def answer(exchange: Exchange) -> bytes:
        if exchange.method == "initialize":
            tamper(exchange.result)
        return exchange.honest()

    register(tamper, lambda _: serve(answer))
    return tamper


def middle(method: str) -> Callable[[Answer], Answer]:
    """Make a mode of a function that answers the NTH request of a method."""

    def decorate(misbehave: Answer) -> Answer:
        def run(nth: int) -> None:
            def answer(exchange: Exchange) -> bytes:
                if (exchange.method, exchange.count) == (method, nth):
                    return misbehave(exchange)
                return exchange.honest()

            serve(answer)

        register(misbehave, run)
        return misbehave

    return decorate


def throughout(answer: Answer) -> Answer:
    """Make a mode of a function that answers every request."""
    register(answer, lambda _: serve(answer))
    return answer


# --- Modes: honest, in trying circumstances -------------------------------------------


@start
def honest() -> None:
    """Keeps to the protocol, and is quiet."""
    serve()


@start
def honest_noisy() -> None:
    """Honest, with a flood on standard error without end."""
    noise = (b"noise " * 20 + b"\n") * 500
    threading.Thread(target=spill, args=(STDERR, noise), daemon=True).start()
    serve()


@throughout
def honest_noisy_inline(exchange: Exchange) -> bytes:
    """Honest, but answers only once its 1 MiB on standard error has been taken."""
    send(b"noise\xff\x1b[31m\n".ljust(MIB, b"."), STDERR)
    return exchange.honest()


@start
def honest_drip() -> None:
    """Honest, byte by byte: the first 256 of a line slowly, the rest at full speed."""

    def drip(data: bytes) -> None:
        for position in range(len(data)):
            send(data[position : position + 1])
            if position < 256:
                time.sleep(0.001)

    serve(write=drip)


@middle("append")
def honest_longest_line(exchange: Exchange) -> bytes:
    """Honest; pads a reply to append to the longest line allowed, LF included."""
    return exchange.padded(exchange.line_limit)


@throughout
def honest_key_order(exchange: Exchange) -> bytes:
    """Honest, with the members of replies in reverse order and spaces around them."""
    members = [b" %s\t: %s " % (line(key)[:-1], line(value)[:-1]) for key, value in reversed(exchange.reply.items())]
    return b" {" + b",".join(members) + b"}\t\n"


# --- Modes: silence -------------------------------------------------------------------


@start
def silence_at_start() -> None:
    """Reads, and never says a word."""
    hush()


@middle("append")
def silence_at_append(_: Exchange) -> NoReturn:
    """Never answers one append, and stays silent."""
    hush()


@middle("load")
def silence_at_load(_: Exchange) -> NoReturn:
    """Never answers one load, and stays silent."""
    hush()


@middle("append")
def silence_once(_: Exchange) -> bytes:
    """Leaves one append unanswered, and goes on with the next request."""
    return b""


@middle("append")
def half_line_then_silence(exchange: Exchange) -> NoReturn:
    """Sends half a reply to append, then nothing."""
    reply = exchange.honest()
    send(reply[: len(reply) // 2])
    hush()


@middle("append")
def drip_without_end(exchange: Exchange) -> NoReturn:
    """Sends a reply to append that always goes on, a byte at a time, and never ends."""
    leave_at_end_of_input()
    send(exchange.raw(b'{"refused":"unavailable","detail":"')[:-2])
    while True:
        send(b".")
        time.sleep(0.05)


@start
def silence_with_noise() -> None:
    """Never answers, but floods standard error all the while."""
    flood(STDERR, b"still working on it\n" * 1000)


@start
def never_reads() -> None:
    """Never reads standard input, whose pipe it makes small, and never answers."""
    narrow_stdin()
    wait_for_hangup(STDIN)


@throughout
def stops_reading(exchange: Exchange) -> NoReturn:
    """Answers initialize, and reads no more: a big request fills the pipe."""
    send(exchange.honest())
    narrow_stdin()
    wait_for_hangup(STDIN)


def narrow_stdin() -> None:
    """Make the pipe of standard input as small as the system lets it be."""
    set_size = getattr(fcntl, "F_SETPIPE_SZ", None)
    if set_size is not None:
        with suppress(OSError):  # No pipe, or more than that is waiting in it.
            fcntl.fcntl(STDIN, set_size, 4 * KIB)


# --- Modes: floods and long lines -----------------------------------------------------


@start
def flood_of_garbage() -> None:
    """Floods standard output with garbage bytes, without a newline, from the start."""
    flood(STDOUT, os.urandom(64 * KIB).replace(b"\n", b""))


@start
def flood_of_lines() -> None:
    """Floods standard output with short replies to requests that nobody has made."""
    replies = ({"jsonrpc": "2.0", "id": f"h-{n}", "result": {}} for n in range(1000))
    flood(STDOUT, b"".join(map(line, replies)))


@middle("append")
def flood_of_replies(exchange: Exchange) -> NoReturn:
    """Answers an append, and goes on answering it without end."""
    flood(STDOUT, exchange.honest() * 100)


@middle("append")
def flood_of_blank_lines(_: Exchange) -> NoReturn:
    """Answers an append with blank lines without end."""
    flood(STDOUT, b"\n" * KIB)


@middle("append")
def line_without_end(exchange: Exchange) -> NoReturn:
    """Answers an append with a line that never ends."""
    send(exchange.raw(b'{"refused":"unavailable","detail":"')[:-2])
    flood(STDOUT, b"x" * 64 * KIB)


@middle("append")
def line_of_4_mib(exchange: Exchange) -> bytes:
    """Answers an append with a good reply of 4 MiB."""
    return exchange.instead({"refused": "unavailable", "detail": "x" * 4 * MIB})


@middle("append")
def line_just_too_long(exchange: Exchange) -> bytes:
    """Pads a reply to append to one byte more than a line may have, LF not counted."""
    return exchange.padded(exchange.line_limit + 2)


# --- Modes: lines that are no replies -------------------------------------------------


@start
def log_line_at_start() -> None:
    """Writes a log line on standard output before anything else."""
    send(b"INFO  adapter ready\n")
    serve()


@middle("append")
def log_line(exchange: Exchange) -> bytes:
    """Writes a log line on standard output before a reply to append."""
    return b"2024-01-01T00:00:00Z INFO appending\n" + exchange.honest()


@throughout
def blank_lines(exchange: Exchange) -> bytes:
    """Puts an empty line before and after every reply."""
    return b"\n" + exchange.honest() + b"\n"


@throughout
def crlf(exchange: Exchange) -> bytes:
    """Ends every line with CRLF."""
    return exchange.honest()[:-1] + b"\r\n"


@middle("append")
def own_request(exchange: Exchange) -> bytes:
    """Sends a request of its own before a reply to append."""
    params = {"run_id": exchange.params["run_id"], "from_sequence": 1, "limit": 1}
    request = {"jsonrpc": "2.0", "id": "i-1", "method": "load", "params": params}
    return line(request) + exchange.honest()


@middle("append")
def own_notification(exchange: Exchange) -> bytes:
    """Sends a notification before a reply to append."""
    note = {"jsonrpc": "2.0", "method": "log", "params": {"text": "appending"}}
    return line(note) + exchange.honest()


# --- Modes: replies with a wrong envelope ---------------------------------------------


@middle("append")
def wrong_id(exchange: Exchange) -> bytes:
    """Answers an append under an id that was never used."""
    return line({**exchange.reply, "id": "h-999999999"})


@middle("append")
def number_id(exchange: Exchange) -> bytes:
    """Answers an append under its id without the prefix, as a number."""
    return line({**exchange.reply, "id": exchange.number})


@middle("append")
def null_id(exchange: Exchange) -> bytes:
    """Answers an append under the id null."""
    return line({**exchange.reply, "id": None})


@middle("append")
def reply_twice(exchange: Exchange) -> bytes:
    """Sends the reply to an append twice."""
    return exchange.honest() * 2


@start
def reply_before_initialize() -> None:
    """Sends a perfect reply to initialize unasked, and another one when asked."""
    send(line({"jsonrpc": "2.0", "id": "h-1", "result": greeting()}))
    serve()


@middle("append")
def reply_before_request(exchange: Exchange) -> bytes:
    """Answers an append, and, as a load, the request that has yet to come."""
    early = {"id": f"h-{exchange.number + 1}", "result": {"records": [], "end": True}}
    return exchange.honest() + line({**exchange.reply, **early})


@middle("append")
def result_and_error(exchange: Exchange) -> bytes:
    """Answers an append with both a result and an error."""
    return line({**exchange.reply, "error": {"code": -32000, "message": "both"}})


@middle("append")
def neither_result_nor_error(exchange: Exchange) -> bytes:
    """Answers an append with neither a result nor an error."""
    return line(exchange.without_result())


@middle("append")
def batch_reply(exchange: Exchange) -> bytes:
    """Wraps the reply to an append in an array, as a batch of one."""
    return line([exchange.reply])


@middle("append")
def scalar_reply(_: Exchange) -> bytes:
    """Answers an append with a bare null."""
    return b"null\n"


@middle("append")
def jsonrpc_1(exchange: Exchange) -> bytes:
    """Answers an append by JSON-RPC 1.0."""
    return line({**exchange.reply, "jsonrpc": "1.0"})


@middle("append")
def append_error(exchange: Exchange) -> bytes:
    """Answers an append with the JSON-RPC error -32000."""
    error = {"code": -32000, "message": "the disk is on fire"}
    return line({**exchange.without_result(), "error": error})


@throughout
def append_not_found(exchange: Exchange) -> bytes:
    """Knows no method append: answers each with -32601."""
    if exchange.method != "append":
        return exchange.honest()
    error = {"code": -32601, "message": "method not found: append"}
    return line({**exchange.without_result(), "error": error})


# --- Modes: bad JSON, or worse --------------------------------------------------------


@middle("append")
def bad_utf_8(exchange: Exchange) -> bytes:
    """Answers an append with a detail that is not UTF-8."""
    return exchange.raw(b'{"refused":"unavailable","detail":"\xc3\x28 \xff\xfe \xc0\x80"}')


@middle("append")
def raw_surrogate(exchange: Exchange) -> bytes:
    """Answers an append with a surrogate encoded as if UTF-8 had it."""
    return exchange.raw(b'{"refused":"unavailable","detail":"\xed\xa0\x80"}')


@middle("append")
def lone_surrogate(exchange: Exchange) -> bytes:
    """Answers an append with the escape of a lone surrogate in the detail."""
    return exchange.raw(rb'{"refused":"unavailable","detail":"\ud800"}')


@middle("load")
def lone_surrogate_in_body(exchange: Exchange) -> bytes:
    """Answers a load with a record whose body is the escape of a lone surrogate."""
    record = line({**made_up(exchange.params["from_sequence"]), "body": "?"})[:-1]
    page = b'{"records":[' + record.replace(b"?", rb"\udfff") + b'],"end":true}'
    return exchange.raw(page)


@middle("append")
def byte_order_mark(exchange: Exchange) -> bytes:
    """Puts a byte order mark before a reply to append."""
    return b"\xef\xbb\xbf" + exchange.honest()


@middle("append")
def nul_byte(exchange: Exchange) -> bytes:
    """Puts a NUL byte after a reply to append."""
    return exchange.honest()[:-1] + b"\x00\n"


@middle("append")
def two_replies_on_a_line(exchange: Exchange) -> bytes:
    """Sends the reply to an append twice on the same line."""
    return exchange.honest()[:-1] + exchange.honest()


@middle("append")
def duplicate_key(exchange: Exchange) -> bytes:
    """Answers an append with two results, each of which would do by itself."""
    return exchange.honest()[:-2] + b',"result":{"refused":"unavailable"}}\n'


@middle("append")
def duplicate_key_inside(exchange: Exchange) -> bytes:
    """Answers an append with a refusal that names two words."""
    return exchange.raw(b'{"refused":"unavailable","refused":"not_stored"}')


@middle("append")
def nan(exchange: Exchange) -> bytes:
    """Answers an append with NaN for a number."""
    return exchange.raw(b'{"refused":"sequence_conflict","actual_next":NaN}')


@middle("append")
def infinity(exchange: Exchange) -> bytes:
    """Answers an append with -Infinity for a number."""
    return exchange.raw(b'{"refused":"sequence_conflict","actual_next":-Infinity}')


@middle("append")
def huge_integer(exchange: Exchange) -> bytes:
    """Answers an append with an integer of 100,000 digits."""
    digits = b"9" * 100_000
    return exchange.raw(b'{"refused":"sequence_conflict","actual_next":' + digits + b"}")


@middle("append")
def huge_exponent(exchange: Exchange) -> bytes:
    """Answers an append with an integer written as 1e999999999."""
    return exchange.raw(b'{"refused":"sequence_conflict","actual_next":1e999999999}')


@middle("append")
def inexact_integer(exchange: Exchange) -> bytes:
    """Answers an append with 2**53 + 1, which no double can hold."""
    return exchange.instead({"refused": "sequence_conflict", "actual_next": 2**53 + 1})


@middle("append")
def deep_nesting(exchange: Exchange) -> bytes:
    """Answers an append with arrays nested 100,000 deep."""
    return exchange.raw(b"[" * 100_000 + b"]" * 100_000)


@throughout
def deep_nesting_at_start(exchange: Exchange) -> bytes:
    """Answers initialize with arrays nested 30,000 deep, in less than 64 KiB."""
    if exchange.method != "initialize":
        return exchange.honest()
    return exchange.raw(b"[" * 30_000 + b"]" * 30_000)


# --- Modes: answers to initialize -----------------------------------------------------


@throughout
def initialize_error(exchange: Exchange) -> bytes:
    """Answers initialize with the JSON-RPC error -32000."""
    if exchange.method != "initialize":
        return exchange.honest()
    error = {"code": -32000, "message": "not today"}
    return line({**exchange.without_result(), "error": error})


@opening
def protocol_2(result: Json) -> None:
    """Answers initialize with protocol 2."""
    result["protocol"] = 2


@opening
def unknown_capability(result: Json) -> None:
    """Claims a capability that there is not."""
    result["capabilities"]["telepathy"] = True


@opening
def capability_of_wrong_type(result: Json) -> None:
    """Claims a capability with "yes" for true."""
    result["capabilities"]["exact_replay"] = "yes"


@opening
def capabilities_as_array(result: Json) -> None:
    """Gives the capabilities as an array of names."""
    result["capabilities"] = list(result["capabilities"])


@opening
def limits_below_floor(result: Json) -> None:
    """Declares limits one below the least that is allowed."""
    result["limits"] = {name: least - 1 for name, least in FLOOR.items()}


@opening
def limits_enormous(result: Json) -> None:
    """Declares limits of 2**60."""
    result["limits"] = dict.fromkeys(FLOOR, 2**60)


@opening
def limits_as_floats(result: Json) -> None:
    """Declares limits written as floats without a fraction, such as 1000.0."""
    result["limits"] = {name: float(least) for name, least in FLOOR.items()}


@opening
def limits_with_fractions(result: Json) -> None:
    """Declares limits with a fraction, such as 1000.5."""
    result["limits"] = {name: least + 0.5 for name, least in FLOOR.items()}


@opening
def name_with_escapes(result: Json) -> None:
    """Has a short name that would write to the terminal of whoever prints it."""
    result["name"] = f"good{ANSI}\nok 1 - everything"


@opening
def name_of_1_mb(result: Json) -> None:
    """Has a name with terminal escapes, 1 MB long: more than the 64 KiB of a line."""
    result["name"] = (ANSI * 1_000_000)[:1_000_000]


# --- Modes: results against the schema ------------------------------------------------


@middle("append")
def result_as_array(exchange: Exchange) -> bytes:
    """Answers an append with an array for a result."""
    return exchange.instead([])


@middle("append")
def acknowledged_missing(exchange: Exchange) -> bytes:
    """Answers an append with an empty object."""
    return exchange.instead({})


@middle("append")
def acknowledged_empty(exchange: Exchange) -> bytes:
    """Acknowledges none of the records of an append."""
    return exchange.instead({"acknowledged": []})


@middle("append")
def acknowledged_and_refused(exchange: Exchange) -> bytes:
    """Both acknowledges and refuses an append."""
    acknowledged = acknowledgement(exchange.params["records"])
    return exchange.instead({**acknowledged, "refused": "not_stored"})


@middle("append")
def unknown_refusal(exchange: Exchange) -> bytes:
    """Refuses an append with a word that there is not."""
    return exchange.instead({"refused": "indisposed"})


@middle("append")
def refusal_of_another_method(exchange: Exchange) -> bytes:
    """Refuses an append with a word of acquire's."""
    return exchange.instead({"refused": "held"})


@middle("append")
def negative_actual_next(exchange: Exchange) -> bytes:
    """Refuses an append with a negative actual_next."""
    return exchange.instead({"refused": "sequence_conflict", "actual_next": -1})


@middle("append")
def actual_next_missing(exchange: Exchange) -> bytes:
    """Refuses an append with sequence_conflict, and does not say what is next."""
    return exchange.instead({"refused": "sequence_conflict"})


@middle("append")
def true_as_number(exchange: Exchange) -> bytes:
    """Acknowledges an append with true for every sequence."""
    records = exchange.params["records"]
    return exchange.instead(acknowledgement([{**r, "sequence": True} for r in records]))


@middle("load")
def number_as_true(exchange: Exchange) -> bytes:
    """Answers a load with 1 for the true of end."""
    return exchange.instead({**exchange.result, "end": 1})


@middle("load")
def records_as_object(exchange: Exchange) -> bytes:
    """Answers a load with the records as an object, by sequence."""
    record = made_up(exchange.params["from_sequence"])
    return exchange.instead({"records": {str(record["sequence"]): record}, "end": True})


@middle("load")
def body_as_number(exchange: Exchange) -> bytes:
    """Answers a load with a record whose body is a number."""
    record = {**made_up(exchange.params["from_sequence"]), "body": 7}
    return exchange.instead({"records": [record], "end": True})


@middle("append")
def detail_with_escapes(exchange: Exchange) -> bytes:
    """Refuses an append with a detail of half a million characters, all escapes."""
    detail = (ANSI * 30_000)[:500_000]
    return exchange.instead({"refused": "unavailable", "detail": detail})


# --- Modes: good form, bad faith ------------------------------------------------------


@throughout
def writes_markup(exchange: Exchange) -> bytes:
    """Says what steers browsers, terminals, templates and CI services wherever a text may stand."""
    send(f"{MARKUP}\n::error::{MARKUP}\n".encode(), STDERR)
    if exchange.method == "initialize":
        exchange.result["name"] = MARKUP[:100]
        exchange.result["version"] = MARKUP[-100:]
    if exchange.method == "load":
        for record in exchange.result["records"]:
            record["body"] = MARKUP
    return exchange.honest()


@throughout
def accept_everything(exchange: Exchange) -> bytes:
    """Acknowledges every append, and has nothing to load."""
    if exchange.method == "append":
        return exchange.instead(acknowledgement(exchange.params["records"]))
    return nothing_to_load(exchange)


@throughout
def refuse_as_unavailable(exchange: Exchange) -> bytes:
    """Refuses every append and every load as unavailable."""
    if exchange.method in ("append", "load"):
        return exchange.instead({"refused": "unavailable"})
    return exchange.honest()


@throughout
def refuse_as_not_stored(exchange: Exchange) -> bytes:
    """Refuses every append as not_stored, and has nothing to load."""
    if exchange.method == "append":
        return exchange.instead({"refused": "not_stored"})
    return nothing_to_load(exchange)


@throughout
def refuse_as_conflict(exchange: Exchange) -> bytes:
    """Refuses every append as sequence_conflict, actual_next 1; has nothing to load."""
    if exchange.method == "append":
        return exchange.instead({"refused": "sequence_conflict", "actual_next": 1})
    return nothing_to_load(exchange)


@throughout
def page_without_progress(exchange: Exchange) -> bytes:
    """Answers every load with no records, and says that there are more."""
    if exchange.method == "load":
        return exchange.instead({"records": [], "end": False})
    return exchange.honest()


@throughout
def pages_without_end(exchange: Exchange) -> bytes:
    """Answers every load with one record more, and says that there are more."""
    if exchange.method == "load":
        record = made_up(exchange.params["from_sequence"])
        return exchange.instead({"records": [record], "end": False})
    return exchange.honest()


@middle("load")
def page_over_limit(exchange: Exchange) -> bytes:
    """Answers a load with one record more than was asked for (10,001 at most)."""
    first: int = exchange.params["from_sequence"]
    last = first + min(exchange.params["limit"], 10_000)
    records = [made_up(sequence) for sequence in range(first, last + 1)]
    return exchange.instead({"records": records, "end": True})


def nothing_to_load(exchange: Exchange) -> bytes:
    """Answer a load with an empty page, and anything else honestly."""
    if exchange.method == "load":
        return exchange.instead({"records": [], "end": True})
    return exchange.honest()


# --- Modes: processes that end, and those that do not ---------------------------------


@start
def exit_0_at_start() -> None:
    """Exits with 0 at once."""
    sys.exit(0)


@start
def exit_1_at_start() -> None:
    """Exits with 1 at once, with a message on standard error."""
    send(b"fatal: cannot open the state directory\n", STDERR)
    sys.exit(1)


@start
def exit_1_with_escapes() -> None:
    """Exits with 1 at once, with terminal escapes and bad UTF-8 on standard error."""
    send(ANSI.encode() + b"\xff\xfe\x00 no newline", STDERR)
    sys.exit(1)


@throughout
def exit_after_initialize(exchange: Exchange) -> NoReturn:
    """Answers initialize, and exits with 0."""
    send(exchange.honest())
    sys.exit(0)


@middle("append")
def exit_at_append(_: Exchange) -> NoReturn:
    """Exits with 0 in place of a reply to append."""
    sys.exit(0)


@middle("load")
def exit_at_load(_: Exchange) -> NoReturn:
    """Exits with 3 in place of a reply to load."""
    sys.exit(3)


@middle("append")
def exit_after_append(exchange: Exchange) -> NoReturn:
    """Answers an append, and exits with 0: the next request has no reader."""
    send(exchange.honest())
    sys.exit(0)


@middle("append")
def half_line_then_exit(exchange: Exchange) -> NoReturn:
    """Sends half a reply to append, and exits with 0."""
    reply = exchange.honest()
    send(reply[: len(reply) // 2])
    sys.exit(0)


@middle("append")
def no_newline_then_exit(exchange: Exchange) -> NoReturn:
    """Sends a whole reply to append but for its LF, and exits with 0."""
    send(exchange.honest()[:-1])
    sys.exit(0)


@middle("append")
def segmentation_fault(_: Exchange) -> NoReturn:
    """Is killed by SIGSEGV, its own, in place of a reply to append."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGSEGV)
    hush()


@middle("append")
def stdin_closed(exchange: Exchange) -> NoReturn:
    """Answers an append, closes standard input, and lives on."""
    send(exchange.honest())
    os.close(STDIN)
    wait_for_hangup(STDOUT)


@middle("append")
def stdout_closed(_: Exchange) -> NoReturn:
    """Closes standard output in place of a reply to append, and ignores SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.close(STDOUT)
    hush()


@start
def shutdown_unanswered() -> None:
    """Ignores SIGTERM, and does not answer shutdown."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve(all_but_shutdown)


@start
def only_sigkill() -> None:
    """Ignores SIGTERM, shutdown, and the end of standard input."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve(all_but_shutdown)
    while True:
        signal.pause()


@start
def lives_on_after_shutdown() -> None:
    """Answers shutdown, but does not exit until standard input ends."""
    serve()
    hush()


@start
def daemon_holds_pipes() -> None:
    """Honest, but leaves a daemon, in a session of its own, that holds every pipe."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(LIFETIME)
        os._exit(0)
    os.wait()
    serve()


@middle("append")
def child_holds_stdout(_: Exchange) -> NoReturn:
    """Exits in place of a reply to append, while a child holds standard output open."""
    if os.fork() == 0:
        os.close(STDIN)
        os.close(STDERR)
        time.sleep(LIFETIME)
        os._exit(0)
    sys.exit(0)


def all_but_shutdown(exchange: Exchange) -> bytes:
    """Answer honestly, but shutdown not at all."""
    return b"" if exchange.method == "shutdown" else exchange.honest()


# --- The command line -----------------------------------------------------------------


def main(arguments: list[str]) -> int:
    """Run one mode, or list them all."""
    match arguments:
        case ["--list"]:
            print("\n".join(MODES))
            return 0
        case [name] if name in MODES:
            nth = 2
        case [name, digits] if name in MODES and digits.isdecimal():
            nth = int(digits)
        case _:
            print("usage: hostile_adapter.py MODE [NTH] | --list", file=sys.stderr)
            return 2
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    live_on()
    with suppress(BrokenPipeError):  # Nobody is left to be hostile to.
        MODES[name](nth)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
