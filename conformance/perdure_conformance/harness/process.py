"""A connection to a program: started in a state directory, spoken to over its standard input and output.

One thread, three pipes, one deadline a call. Memory is bounded by the longest line that the protocol allows and by
`STDERR_KEPT_BYTES`. Ending it means ending all that it started: its process group, and whatever carries the marker
that it got in its environment.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence

import msgspec

from perdure.kernel.values import JsonObject
from perdure_conformance.harness import messages, schemas
from perdure_conformance.harness.connection import AdapterFault, FaultKind, Silence
from perdure_conformance.harness.starting import why_not_started
from perdure_conformance.harness.transcript import Transcript
from perdure_conformance.interrupts import owe, settle, uninterrupted

STDERR_KEPT_BYTES = 64 * 1024
_READ_BYTES = 64 * 1024
_MARKER = "PERDURE_ADAPTER"
_LOOK_EVERY_S = 0.2
_DEATH_TAKES_AT_MOST_S = 5.0
_LOOKS = 10
_BETWEEN_LOOKS_S = 0.001


class ProcessConnection:
    """One running adapter."""

    def __init__(
        self,
        command: Sequence[str],
        timeout_s: float,
        transcript: Transcript,
        decode: schemas.Decode = schemas.decode_reply,
    ) -> None:
        self._decode = decode
        self._timeout_s = timeout_s
        self._transcript = transcript
        self._marker = secrets.token_hex(16)
        self._requests = 0
        self._line_limit_bytes = messages.BYTES_BEFORE_INITIALIZE
        self._unsent = memoryview(b"")
        self._received = bytearray()
        self._stderr = bytearray()
        with uninterrupted():
            self._process = self._started(command)
            owe(self._marker, lambda: end_all(self._process, f"{_MARKER}={self._marker}"))
        assert self._process.stdin and self._process.stdout and self._process.stderr  # noqa: PT018
        self._stdin = self._process.stdin
        self._stdout = self._process.stdout
        self._stderr_pipe = self._process.stderr
        self._exit = os.pidfd_open(self._process.pid) if hasattr(os, "pidfd_open") else None
        for pipe in (self._stdin, self._stdout, self._stderr_pipe):
            os.set_blocking(pipe.fileno(), False)

    def _started(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603 - the user's own command, without a shell
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                env={**inherited(), _MARKER: self._marker},
            )
        except (OSError, ValueError) as error:
            told = f"{command[0]!a} cannot be started: {why_not_started(command[0], error)}"
            raise AdapterFault("cannot_start", told) from error

    def call(self, method: str, params: JsonObject) -> JsonObject:
        """Send one request and wait for its answer."""
        self._refuse_unasked_output()
        self._requests += 1
        request_id = f"h-{self._requests}"
        schemas.check_params(method, params)
        request = messages.encode_request(request_id, method, params)
        self._transcript.sent(request)
        line = self._exchange(request, method)
        self._transcript.received(line)
        try:
            result = self._decode(line, request_id, method, params)
        except AdapterFault as fault:
            raise self._fault(fault.kind, fault.sentence) from fault
        if method == "initialize":
            self._line_limit_bytes = messages.line_limit_bytes(_limits(params), _limits(result))
        return result

    def close(self) -> None:
        """Ask it to shut down, and see that it does."""
        try:
            self.call("shutdown", {})
            self._stdin.close()
            self._wait_for_exit()
        except Silence as error:
            raise self._fault("silence", f"It did not shut down within {self._timeout_s:g} s.") from error
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill −9 the process group and every process that carries the marker, and let go of the pipes."""
        end_all(self._process, f"{_MARKER}={self._marker}")
        settle(self._marker)
        self._drain_stderr()
        if self._exit is not None:
            os.close(self._exit)
            self._exit = None
        for pipe in (self._stdin, self._stdout, self._stderr_pipe):
            with contextlib.suppress(OSError):
                pipe.close()

    def stderr(self) -> str:
        """Return the end of standard error, as text that cannot fail to decode."""
        return self._stderr.decode("utf-8", "backslashreplace")

    def _refuse_unasked_output(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._received += os.read(self._stdout.fileno(), _READ_BYTES)
        if self._received:
            raise self._fault(
                "unasked", f"It wrote {messages.quote(bytes(self._received))} although nothing was asked."
            )

    def _exchange(self, request: bytes, method: str) -> bytes:
        """Write the request and read one line, draining standard error, until the deadline."""
        deadline = time.monotonic() + self._timeout_s
        self._unsent = memoryview(request)
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdin, selectors.EVENT_WRITE, lambda: self._send(selector))
            selector.register(self._stdout, selectors.EVENT_READ, lambda: self._receive(method))
            selector.register(self._stderr_pipe, selectors.EVENT_READ, lambda: self._hear(selector))
            if self._exit is not None:
                selector.register(self._exit, selectors.EVENT_READ, lambda: self._last_line(method))
            while time.monotonic() < deadline:
                for key, _ in selector.select(max(0.0, deadline - time.monotonic())):
                    line: bytes | None = key.data()
                    if line is not None:
                        return line
        raise self._silence(method)

    def _send(self, selector: selectors.BaseSelector) -> None:
        """Write what the pipe takes."""
        try:
            self._unsent = self._unsent[os.write(self._stdin.fileno(), self._unsent) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unsent = self._unsent[:0]  # Whoever closed its input may still have answered; reading will tell.
        if not self._unsent:
            selector.unregister(self._stdin)

    def _hear(self, selector: selectors.BaseSelector) -> None:
        """Drain standard error."""
        if not self._keep_stderr():
            selector.unregister(self._stderr_pipe)

    def _receive(self, method: str) -> bytes | None:
        """Read what is there; return the first line once it is whole."""
        try:
            chunk = os.read(self._stdout.fileno(), _READ_BYTES)
        except BlockingIOError:
            return None
        if not chunk:
            raise self._ended(method)
        self._received += chunk
        end = self._received.find(b"\n", max(0, len(self._received) - len(chunk)))
        if (len(self._received) if end < 0 else end) > self._line_limit_bytes:
            raise self._fault(
                "line_too_long",
                f"A line longer than {self._line_limit_bytes} bytes came in place of the answer to {method}; "
                f"it begins {messages.quote(bytes(self._received[:200]))}.",
            )
        if end < 0:
            return None
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line

    def _last_line(self, method: str) -> bytes:
        """Read what a process left behind that has ended, though its children may hold the pipes open."""
        while True:
            before = len(self._received)
            line = self._receive(method)
            if line is not None:
                return line
            if len(self._received) == before:
                raise self._ended(method)

    def _keep_stderr(self) -> bool:
        """Keep the end of what came on standard error; tell whether more can come."""
        try:
            chunk = os.read(self._stderr_pipe.fileno(), _READ_BYTES)
        except BlockingIOError:
            return True
        self._stderr += chunk
        del self._stderr[:-STDERR_KEPT_BYTES]
        return bool(chunk)

    def _drain_stderr(self) -> None:
        """Take what is left, but no more than is kept: another process may still be writing."""
        if self._stderr_pipe.closed:
            return
        for _ in range(STDERR_KEPT_BYTES // 4096):
            before = len(self._stderr)
            if not self._keep_stderr() or len(self._stderr) == before:
                return

    def _wait_for_exit(self) -> None:
        """Wait until it ends, and hear what it still has to say on standard error."""
        deadline = time.monotonic() + self._timeout_s
        while self._process.poll() is None:
            if time.monotonic() >= deadline:
                raise Silence
            waiting = [self._stderr_pipe.fileno(), *([] if self._exit is None else [self._exit])]
            wait_for(waiting, min(_LOOK_EVERY_S, self._timeout_s))
            if not self._keep_stderr():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(max(0.0, deadline - time.monotonic()))

    def _ended(self, method: str) -> AdapterFault:
        half = f" after half a line, {messages.quote(bytes(self._received))}" if self._received else ""
        try:
            code = self._process.wait(min(1.0, self._timeout_s))
        except subprocess.TimeoutExpired:
            return self._fault("exited", f"It closed its standard output{half} while {method} was pending.")
        how = f"was killed by signal {-code}" if code < 0 else f"exited with code {code}"
        return self._fault("exited", f"It {how}{half} while {method} was pending.")

    def _silence(self, method: str) -> Exception:
        if self._unsent:
            return self._fault("not_reading", f"It did not take the request {method} within {self._timeout_s:g} s.")
        if self._received:
            half = messages.quote(bytes(self._received))
            return self._fault(
                "silence", f"Only half a line came for {method} within {self._timeout_s:g} s: {half}. End it with LF."
            )
        return Silence(f"{method} was not answered within {self._timeout_s:g} s")

    def _fault(self, kind: FaultKind, sentence: str) -> AdapterFault:
        self.kill()
        return AdapterFault(kind, sentence, self.stderr())


def _limits(message: JsonObject) -> dict[str, int]:
    return msgspec.convert(message["limits"], dict[str, int])


def wait_for(descriptors: Sequence[int], seconds: float) -> bool:
    """Wait until one can be read; return whether one can. Unlike `select`, it knows descriptors above 1,023."""
    with selectors.DefaultSelector() as selector:
        for descriptor in descriptors:
            selector.register(descriptor, selectors.EVENT_READ)
        return bool(selector.select(seconds))


def end_all(process: subprocess.Popen[bytes], marker: str) -> None:
    """Kill −9 the process group that a process leads, and whoever carries the marker in its environment."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    _kill_marked(marker)
    process.wait()


def _kill_marked(marker: str) -> None:
    """Kill whoever carries the marker in its environment, and wait until it is gone: it may have left the group."""
    wanted = marker.encode()
    # Each end of each program comes by here: paths as objects would take most of the time.
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():  # noqa: PTH112, PTH208
        if name.isdigit():
            with contextlib.suppress(OSError):  # What is in them may be gone at any moment.
                environment = _environment(f"/proc/{name}")
                if wanted in environment and wanted in environment.split(b"\0"):
                    _kill_and_wait(int(name))


def inherited() -> dict[str, str]:
    """Return the environment of this process; another thread may take variables away meanwhile, as pytest does."""
    return {name: value for name in os.environ if (value := os.environ.get(name)) is not None}


def _environment(process: str) -> bytes:
    """Return the environment of a process.

    While a process becomes another program it has none for a moment, and whoever started it may know already that it
    runs. What is no program, but a thread of the kernel, is known by the link that it lacks, which raises `OSError`.
    """
    found = _content(f"{process}/environ")
    for _ in range(_LOOKS):
        if found or not os.readlink(f"{process}/exe"):  # noqa: PTH115 - as above
            break
        time.sleep(_BETWEEN_LOOKS_S)
        found = _content(f"{process}/environ")
    return found


def _content(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = b""
        while chunk := os.read(descriptor, _READ_BYTES):
            content += chunk
    finally:
        os.close(descriptor)
    return content


def _kill_and_wait(pid: int) -> None:
    process = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(process, signal.SIGKILL)
        wait_for([process], _DEATH_TAKES_AT_MOST_S)
    finally:
        os.close(process)
