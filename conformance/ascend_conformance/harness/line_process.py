"""A program under test that is asked line by line: limits, late answers, and its end."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO

from ascend_ref.cli.guard import one_line

from .limits import Limits, end_group, last_line, limited

LONGEST = 1 << 20
"""Bytes of an answer."""
SHOWN = 80
"""Bytes of what nothing asked for that are shown."""
SHORT = 5.0
"""Seconds that a process has to stop."""


class BrokenOff(Exception):
    """The process does not keep to its protocol, or is gone."""


class Late(Exception):
    """The process does not answer in time."""


class LineProcess:
    """A place to run in, and one process at a time; what it writes to stderr is kept there."""

    def __init__(self, command: Sequence[str], limits: Limits) -> None:
        self._command = command
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._open = ExitStack()
        self._place = self._open.enter_context(TemporaryDirectory(prefix="ascend-ref-conform-"))
        said = TemporaryFile()  # noqa: SIM115  # close() closes it, with all that is open
        self._said = self._open.enter_context(said)
        self._rest = b""

    @property
    def is_running(self) -> bool:
        """Whether a process was started, and not ended."""
        return self._process is not None

    @property
    def place(self) -> Path:
        """The folder in which it runs."""
        return Path(self._place)

    def start(self) -> None:
        """Start the process. Raises ``OSError``."""
        self._rest = b""
        self._said.seek(0)
        self._said.truncate()
        self._process = subprocess.Popen(  # noqa: S603  # it runs what is tried, without a shell
            limited(self._command, self._limits),
            bufsize=0,
            cwd=self._place,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            start_new_session=True,
        )

    def ask(self, line: bytes, seconds: float | None = None) -> bytes:
        """The line that answers one, without its end.

        Raises :class:`BrokenOff`, :class:`Late`, ``OSError``.
        """
        _, asked, answers = self._running()
        ends = time.monotonic() + (seconds or self._limits.seconds)
        _write(asked, line + b"\n", ends)
        while b"\n" not in self._rest:
            read = _read(answers, ends)
            if not read:
                raise BrokenOff("it ended without an answer")
            self._rest += read
            if len(self._rest) > LONGEST:
                raise BrokenOff(f"an answer has more than {LONGEST} bytes")
        answer, _, self._rest = self._rest.partition(b"\n")
        return answer

    def finish(self, seconds: float = SHORT) -> int:
        """Close what it reads, and wait for its end: its exit code.

        Raises :class:`BrokenOff` where it has written more than answers, :class:`Late` where it
        does not end; both end it.
        """
        process, asked, answers = self._running()
        ends = time.monotonic() + seconds
        try:
            with suppress(OSError):  # what it did not read is lost with it
                asked.close()
            unasked = self._rest.strip()
            while not unasked and (read := _read(answers, ends)):
                unasked = read.strip()
            if unasked:
                shown = one_line(unasked[:SHOWN].decode(errors="replace"))
                raise BrokenOff(f"it wrote {shown!r}, which nothing asked for")
            return process.wait(max(ends - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            raise Late from None
        finally:
            self.end()

    def said(self) -> str:
        """The last line that it wrote to stderr; empty where there is none."""
        return last_line(self._said)

    def gone(self, words: str) -> str:
        """A reason, with the last line that it wrote to stderr."""
        said = self.said()
        return f"{words}: {said}" if said else words

    def end(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            end_group(self._process)
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    with suppress(OSError):  # what it did not read is lost with it
                        pipe.close()
            self._process = None

    def close(self) -> None:
        """End the process, and remove its place."""
        self.end()
        self._open.close()

    def _running(self) -> tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]:
        """The process, what it reads, and what it writes."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise BrokenOff("the process is gone")
        return process, process.stdin, process.stdout


def _read(pipe: IO[bytes], ends: float) -> bytes:
    """Some bytes, none at the end. Raises :class:`Late`."""
    _wait(pipe, selectors.EVENT_READ, ends)
    return os.read(pipe.fileno(), 1 << 16)


def _write(pipe: IO[bytes], content: bytes, ends: float) -> None:
    """Write all of it; a process that reads nothing leaves no room. Raises :class:`Late`."""
    os.set_blocking(pipe.fileno(), False)
    while content:
        _wait(pipe, selectors.EVENT_WRITE, ends)
        content = content[os.write(pipe.fileno(), content) :]


def _wait(pipe: IO[bytes], event: int, ends: float) -> None:
    """Wait until it is ready. Raises :class:`Late`."""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, event)
        left = ends - time.monotonic()
        if left <= 0 or not selector.select(left):
            raise Late
