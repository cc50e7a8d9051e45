"""An exporter that is a long-lived process: JSON lines, as exchange/exporter-protocol describes."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema_rs

from ascend_ref.cli.guard import one_line
from ascend_spec.exchange import exchange_schema

from .exporters import Result, called, words_of
from .limits import Limits
from .line_process import SHORT, BrokenOff, Late, LineProcess

PROTOCOL = "ascend-ref-exporter/1"


class Talking:
    """The process is started for the first export, and anew where it broke off."""

    features: frozenset[str] | None = None
    writer: str | None = None

    def __init__(self, text: str, command: str, stage: str, limits: Limits) -> None:
        self.text = text
        self.name = called(shlex.split(command))
        self._stage = stage
        self._limits = limits
        self._process = LineProcess(words_of(command), limits)
        self._seq = 0
        self._answers = jsonschema_rs.validator_for(exchange_schema("exporter-protocol"))

    def export(self, source: Path, target: Path) -> Result:
        """Ask the process to export; one that breaks the protocol is ended."""
        try:
            if not self._process.is_running:
                self._start()
            answer = self._ask({"do": "export", "in": str(source), "out": str(target)})
        except Late:
            self._process.end()
            return Result("hung", f"after {self._limits.seconds:g} s there was no answer")
        except (BrokenOff, OSError) as problem:
            words = self._process.gone(str(problem))
            self._process.end()
            return Result("broken", words)
        kind = answer["is"]
        if kind == "skipped":
            return Result("skipped", one_line(answer["reason"]))
        if kind == "error":
            return Result("refused", one_line(answer["message"]))
        return Result("done")

    def close(self) -> None:
        """Ask the process to stop, close what it reads, and end it where it does not stop."""
        try:
            with suppress(Late, BrokenOff, OSError):  # it is ended below
                if self._process.is_running:
                    self._ask({"do": "stop"}, SHORT)
                    self._process.finish()
        finally:
            self._process.close()

    def _start(self) -> None:
        self._seq = 0
        self._process.start()
        answer = self._ask({"do": "start", "protocol": PROTOCOL, "stage": self._stage})
        if answer["is"] != "result":
            raise BrokenOff(f"the answer to start is {answer['is']}; expected result")

    def _ask(self, request: Mapping[str, Any], seconds: float | None = None) -> dict[str, Any]:
        self._seq += 1
        line = json.dumps({"seq": self._seq, **request}, ensure_ascii=False)
        return self._answer(self._process.ask(line.encode(), seconds))

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            answer: Any = json.loads(line)
        except (ValueError, RecursionError):
            shown = one_line(line[:80].decode(errors="replace"))
            raise BrokenOff(f"{shown!r} is no JSON; expected an answer") from None
        problem = next(self._answers.iter_errors(answer), None)
        if problem is not None or "is" not in answer:
            raise BrokenOff(
                "the line is no answer of the protocol; expected result, skipped or error"
            )
        if answer["seq"] != self._seq:
            raise BrokenOff(f"the answer has seq {answer['seq']}; expected {self._seq}")
        found: dict[str, Any] = answer
        return found
