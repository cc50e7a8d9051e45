"""An exporter that is a long-lived process: JSON lines, as exchange/exporter-protocol describes."""

from __future__ import annotations

import json
import selectors
import shlex
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import jsonschema_rs

from ascend_ref.cli.guard import one_line
from ascend_spec.exchange import exchange_schema

from .exporters import Result, called, words_of
from .limits import Limits, end_group, last_line, limited

PROTOCOL = "ascend-ref-exporter/1"
LONGEST = 1 << 20
"""Bytes of an answer."""
SHORT = 5.0
"""Seconds that a process has to stop."""


class _Broken(Exception):
    """The process does not keep to the protocol, or is gone."""


class _Late(Exception):
    """The process does not answer in time."""


class Talking:
    """The process is started for the first export, and anew where it broke off."""

    features: frozenset[str] | None = None
    writer: str | None = None

    def __init__(self, text: str, command: str, stage: str, limits: Limits) -> None:
        self.text = text
        self.name = called(shlex.split(command))
        self._command = words_of(command)
        self._stage = stage
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._open = ExitStack()
        self._place = self._open.enter_context(TemporaryDirectory(prefix="ascend-ref-conform-"))
        self._said = self._open.enter_context(TemporaryFile())  # noqa: SIM115
        self._rest = b""
        self._seq = 0
        self._answers = jsonschema_rs.validator_for(exchange_schema("exporter-protocol"))

    def export(self, source: Path, target: Path) -> Result:
        """Ask the process to export; one that breaks the protocol is ended."""
        try:
            if self._process is None:
                self._start()
            answer = self._ask({"do": "export", "in": str(source), "out": str(target)})
        except _Late:
            self._end()
            return Result("hung", f"after {self._limits.seconds:g} s there was no answer")
        except (_Broken, OSError) as problem:
            words = self._gone(str(problem))
            self._end()
            return Result("broken", words)
        kind = answer["is"]
        if kind == "skipped":
            return Result("skipped", one_line(answer["reason"]))
        if kind == "error":
            return Result("refused", one_line(answer["message"]))
        return Result("done")

    def close(self) -> None:
        """Ask the process to stop, close what it reads, and end it where it does not stop."""
        ends = (_Late, _Broken, OSError, subprocess.TimeoutExpired)
        try:
            with suppress(*ends):  # it is ended below
                if self._process is not None:
                    self._ask({"do": "stop"}, SHORT)
                    if self._process.stdin is not None:
                        self._process.stdin.close()
                    self._process.wait(SHORT)
        finally:
            self._end()
            self._open.close()

    def _start(self) -> None:
        self._seq, self._rest = 0, b""
        self._process = subprocess.Popen(  # noqa: S603
            limited(self._command, self._limits),
            cwd=self._place,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            start_new_session=True,
        )
        answer = self._ask({"do": "start", "protocol": PROTOCOL, "stage": self._stage})
        if answer["is"] != "result":
            raise _Broken(f"the answer to start is {answer['is']}; expected result")

    def _ask(self, request: Mapping[str, Any], seconds: float | None = None) -> dict[str, Any]:
        self._seq += 1
        process = self._process
        if process is None or process.stdin is None:
            raise _Broken("the process is gone")
        line = json.dumps({"seq": self._seq, **request}, ensure_ascii=False) + "\n"
        process.stdin.write(line.encode())
        process.stdin.flush()
        return self._answer(self._line(process, seconds or self._limits.seconds))

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            answer: Any = json.loads(line)
        except (ValueError, RecursionError):
            shown = one_line(line[:80].decode(errors="replace"))
            raise _Broken(f"{shown!r} is no JSON; expected an answer") from None
        problem = next(self._answers.iter_errors(answer), None)
        if problem is not None or "is" not in answer:
            raise _Broken(
                "the line is no answer of the protocol; expected result, skipped or error"
            )
        if answer["seq"] != self._seq:
            raise _Broken(f"the answer has seq {answer['seq']}; expected {self._seq}")
        found: dict[str, Any] = answer
        return found

    def _line(self, process: subprocess.Popen[bytes], seconds: float) -> bytes:
        """The next line, within a time."""
        ends = time.monotonic() + seconds
        if process.stdout is None:
            raise _Broken("the process is gone")
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                left = ends - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise _Late
                read = process.stdout.read1(1 << 16)  # type: ignore[attr-defined]
                if not read:
                    raise _Broken("it ended without an answer")
                self._rest += read
                if len(self._rest) > LONGEST:
                    raise _Broken(f"an answer has more than {LONGEST} bytes")
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _gone(self, words: str) -> str:
        said = last_line(self._said)
        return f"{words}: {said}" if said else words

    def _end(self) -> None:
        if self._process is not None:
            end_group(self._process)
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    with suppress(OSError):  # what it did not read is lost with it
                        pipe.close()
            self._process = None
