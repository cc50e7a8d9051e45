"""Probe a server: ``probe(address, file) -> Report``."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from ascend_ref import __version__
from ascend_ref.tools.serve import Answers, open_answers
from ascend_spec import api_catalog

from ...finding import API, Coverage, FileReport, Report, Seen, Skipped
from .client import CannotConnect, Client, Lost, open_client, shown_address
from .judge import Judge, speaks
from .names import Names
from .options import COMPARED, ProbeOptions
from .plan import Request, opening, plan
from .rules import load_api_rules, rules_by_find
from .talk import NotAsked, Talk, Twin
from .verdicts import Noticed, Verdicts

CONNECTIONS = 4
"""How often the server is connected to, before what is left is given up."""

UNANSWERED = 3
"""Requests in a row without an answer, after which no more are sent."""

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with the number of requests done, the number of all, and the next command."""


def probe(
    address: str,
    file: Path | str,
    options: ProbeOptions | None = None,
    progress: Progress | None = None,
) -> Report:
    """Judge the server at ``ws://HOST:PORT/PATH`` by its answers about a file.

    Raises :class:`ascend_ref.bin.Unreadable` for the file and :class:`.client.CannotConnect`.
    """
    started = time.monotonic()
    with open_answers(file) as answers:
        report = _Probe(address, answers, options or ProbeOptions(), progress).report(started)
    return Report((report,), __version__, "observed")


class _Probe:
    def __init__(
        self, address: str, answers: Answers, options: ProbeOptions, progress: Progress | None
    ) -> None:
        self._address = address
        self._answers = answers
        self._options = options
        self._progress = progress
        self._label = shown_address(address)
        self._verdicts = Verdicts(self._label, options.max_examples)
        path = answers.card if options.server_path is None else options.server_path
        names = Names(answers.card, answers.unit(answers.card), path)
        self._judge = Judge(self._verdicts, names)
        self._talk = Talk(Twin(answers), names, self._judge, self._verdicts, options.timeout)
        self._opening = opening(answers)
        wanted = [request for request in plan(answers) if options.wants(request.command)]
        self._waiting = [self._opening, *wanted]
        self._total = len(self._waiting)
        self._skipped: dict[tuple[str, str], None] = {}
        self._answered: dict[str, int] = {}
        self._silent = 0

    def report(self, started: float) -> FileReport:
        """The verdict, after all that can be asked was asked."""
        with open_client(self._address, self._options.timeout) as client:
            ended = self._ask_all(client)
        connections = 1
        while ended is not None and self._waiting:
            connections += 1
            ended = self._again(ended, connections)
        skipped = rules_by_find()["value"].id
        return FileReport(
            file=self._label,
            seen=self._seen(),
            findings=self._verdicts.findings(),
            skipped=tuple(Skipped(skipped, place, reason) for place, reason in self._skipped),
            rules_run=len(load_api_rules()),
            places_checked=self._talk.judged,
            seconds=time.monotonic() - started,
        )

    def _again(self, ended: str, connections: int) -> str | None:
        """Connect anew and go on; what is left is skipped where that does not help."""
        if connections > CONNECTIONS or not self._answered:
            self._give_up(ended)
            return None
        try:
            with open_client(self._address, self._options.timeout) as client:
                if self._talk.restore(client, self._opening):
                    return self._ask_all(client)
                self._give_up(f"{ended}; the file could not be imported again")
        except (CannotConnect, Lost) as problem:
            self._give_up(f"{ended}; {problem}")
        return None

    def _ask_all(self, client: Client) -> str | None:
        """Send what is waiting; why the connection ended before all was."""
        while self._waiting:
            request = self._waiting.pop(0)
            if self._progress:
                done = self._total - len(self._waiting) - 1
                self._progress(done, self._total, request.command)
            try:
                self._ask(client, request)
            except Lost as problem:
                self._verdicts.add(
                    Noticed("lost", request.command, (), "", str(problem), request.shown)
                )
                return str(problem)
        return None

    def _ask(self, client: Client, request: Request) -> None:
        if reason := self._unfit(request):
            self._skip(request, reason)
            return
        try:
            reply = self._talk.ask(client, request)
        except NotAsked as problem:
            self._skip(request, str(problem))
            if request is self._opening:
                self._give_up(str(problem))
            return
        if reply is not None:
            self._silent = 0
            self._answered[request.command] = self._answered.get(request.command, 0) + 1
        else:
            self._silent += 1
        if request is self._opening and (reply is None or reply.get("result") is not True):
            self._give_up("the server did not import the file")
        elif self._silent == UNANSWERED:
            self._give_up(f"{UNANSWERED} requests in a row stayed without an answer")

    def _unfit(self, request: Request) -> str | None:
        """Why a request is not sent to this server."""
        generation = self._judge.generation
        is_known = request.command in api_catalog().commands
        if is_known and not speaks(generation, request.command):
            return f"not part of generation {generation} of the API"
        if request.params.get(COMPARED) and not speaks(generation, "global/setBaseline"):
            return f"generation {generation} of the API compares nothing"
        return None

    def _skip(self, request: Request, reason: str) -> None:
        self._skipped[request.command, reason] = None

    def _give_up(self, reason: str) -> None:
        for request in self._waiting:
            self._skip(request, reason)
        self._waiting.clear()

    def _seen(self) -> Seen:
        generation = self._judge.generation
        commands = [name for name in api_catalog().commands if speaks(generation, name)]
        answered = {name: self._answered[name] for name in commands if name in self._answered}
        soc = self._answers.answer("source/details/baseInfo", {}).body["compare"]["soc"]
        return Seen(
            carrier=API,
            revision=generation,
            product=soc or None,
            rows=answered,
            coverage=Coverage(
                exercised=len(answered),
                producible=len(commands),
                missing_tables=tuple(name for name in commands if name not in answered),
            ),
        )
