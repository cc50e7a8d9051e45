"""A program under test that is asked line by line: limits, late answers, and its end."""

from __future__ import annotations

import selectors
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

from .limits import Limits, end_group, last_line, limited

LONGEST = 1 << 20
"""Bytes of an answer."""
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
        self._said = self._open.enter_context(TemporaryFile())  # noqa: SIM115
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
        self._process = subprocess.Popen(  # noqa: S603
            limited(self._command, self._limits),
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
        process = self._process
        if process is None or process.stdin is None:
            raise BrokenOff("the process is gone")
        process.stdin.write(line + b"\n")
        process.stdin.flush()
        return self._line(process, seconds or self._limits.seconds)

    def finish(self, seconds: float = SHORT) -> tuple[int, bytes]:
        """Close what it reads: its exit code, and what it has written that was not asked for.

        Raises :class:`Late` where it does not end, and ends it.
        """
        process = self._process
        if process is None or process.stdin is None:
            raise BrokenOff("the process is gone")
        try:
            with suppress(OSError):  # what it did not read is lost with it
                process.stdin.close()
            left, ends = b"", time.monotonic() + seconds
            with suppress(BrokenOff):
                while len(left) <= LONGEST:
                    left += self._line(process, ends - time.monotonic()) + b"\n"
            left += self._rest
            process.wait(seconds)
            return process.returncode, left
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

    def _line(self, process: subprocess.Popen[bytes], seconds: float) -> bytes:
        """The next line, within a time."""
        ends = time.monotonic() + seconds
        if process.stdout is None:
            raise BrokenOff("the process is gone")
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                left = ends - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise Late
                read = process.stdout.read1(1 << 16)  # type: ignore[attr-defined]
                if not read:
                    raise BrokenOff("it ended without an answer")
                self._rest += read
                if len(self._rest) > LONGEST:
                    raise BrokenOff(f"an answer has more than {LONGEST} bytes")
        line, _, self._rest = self._rest.partition(b"\n")
        return line
