"""Asking one request after the other, and taking in all that comes in between."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ascend_ref.bin import MalformedPayload, parse
from ascend_ref.db.display import clip, printable
from ascend_ref.json_keys import ObjectReader
from ascend_ref.tools.serve import Answers, Session
from ascend_ref.tools.serve.envelope import encoded
from ascend_spec import api_catalog

from ...engine.json_values import shown
from .client import MAX_MESSAGE, Client
from .judge import Judge
from .names import Names, UnknownName
from .plan import Request
from .verdicts import Message, Noticed, Verdicts

SPARE_BYTES = 4 << 20
"""What a message may be longer than four times the longest that is due, to be read at all."""

MOST_EARLY = 64
"""Events that are put off until the first answer has come."""

MOST_DOUBLED = 100
"""Doubled keys of one message that are looked at."""

CONNECTION = "connection"
"""The place of findings about messages that belong to nothing."""

ALIVE = Request("source/details/baseInfo")
"""Asked after what a server drops: it still answers, and has dropped the other by then."""


UNAWAITED = "parse/progress"
"""The event that comes as often as the server likes."""


class NotAsked(Exception):
    """A request that cannot be sent, or whose answer could not be taken; the text says why."""


@dataclass(frozen=True, slots=True)
class Due:
    """What a server owes after a request: an answer, or none, and events in this order.

    ``size`` is the length of the longest of these messages.
    """

    answer: Message | None
    events: tuple[Message, ...]
    size: int


class Twin:
    """A session of the reference server with the same requests."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self._session = Session(answers)

    def hear(self, request: Request, number: int) -> Due:
        """What is due to a request, which gets this number."""
        answer: Message | None = None
        events: list[Message] = []
        for message in self._session.handle(request.message(number, request.params)):
            if message["type"] == "event":
                events.append(message)
            else:
                answer = message
        awaited = tuple(event for event in events if event["event"] != UNAWAITED)
        due = [message for message in (answer, *awaited) if message]
        size = max((len(encoded(dict(message))) for message in due), default=0)
        return Due(answer, awaited, size)


class Talk:
    """One conversation with a server. Requests are numbered from 1, whatever the connection."""

    def __init__(
        self, twin: Twin, names: Names, judge: Judge, verdicts: Verdicts, timeout: float
    ) -> None:
        self._twin = twin
        self._names = names
        self._judge = judge
        self._verdicts = verdicts
        self._timeout = timeout
        self._last = 0
        self._dropped: tuple[int, Request] | None = None
        self._given_up: set[int] = set()
        self._pending: list[Message] = []
        self.judged = 0

    def _due(self, request: Request) -> tuple[int, Due]:
        """The number that a request gets, and what is due to it."""
        self._last += 1
        return self._last, self._twin.hear(request, self._last)

    def ask(self, client: Client, request: Request) -> Mapping[str, Any] | None:
        """Send a request and judge what comes; its answer, ``None`` without one or where none is
        due. Raises :class:`.client.Lost` and :class:`NotAsked`.
        """
        try:
            params = self._names.to_server(request.command, request.params)
        except UnknownName as problem:
            raise NotAsked(str(problem)) from problem
        number, due = self._due(request)
        if due.size > MAX_MESSAGE:
            raise NotAsked(f"what is due has more than the {MAX_MESSAGE:,} bytes that are taken")
        client.send(request.message(number, params))
        if due.answer is None:
            self._dropped = number, request
            try:
                return self.ask(client, ALIVE)
            finally:
                self._dropped = None
        self._pending = list(due.events)
        received = self._listen(client, request, number, due)
        if received is None:
            self._given_up.add(number)
            asked = self._dropped[1] if self._dropped else request
            actual = f"none within {self._timeout:g} s"
            self._verdicts.add(
                Noticed("no-answer", asked.command, (), "", actual, request=asked.shown)
            )
            return None
        self.judged += 1
        self._judge.answer(request, number, due.answer, received)
        if received.get("result") is True:
            self._judge.missing_events(request, self._pending)
        self._pending.clear()
        return received

    def restore(self, client: Client, opening: Request) -> bool:
        """Import again after the connection was lost; whether it worked. The answer was judged."""
        self._judge.connected_anew()
        number, due = self._due(opening)
        client.send(opening.message(number, self._names.to_server(opening.command, opening.params)))
        self._pending = list(due.events)
        received = self._listen(client, opening, number, due)
        self._pending.clear()
        return received is not None and received.get("result") is True

    def _listen(
        self, client: Client, request: Request, number: int, due: Due
    ) -> Mapping[str, Any] | None:
        """Take in messages until the answer and the events have come, or time is up.

        Events follow only where the answer's result is true.
        """
        deadline = time.monotonic() + self._timeout
        answer: Mapping[str, Any] | None = None
        early: list[Mapping[str, Any]] = []
        while answer is None or self._pending:
            raw = client.receive(deadline)
            if raw is None:
                break
            message = self._read(raw, SPARE_BYTES + 4 * due.size)
            if message is None:
                continue
            if _is_event(message):
                # Before the first answer it is not known what events have to look like.
                if number == 1 and answer is None and len(early) < MOST_EARLY:
                    early.append(message)
                else:
                    self._judge.event(message, self._pending)
            elif answer is None and _answers(message, request, number):
                answer = message
                self._judge.recognise(request, answer)
                while early:
                    self._judge.event(early.pop(0), self._pending)
                if answer.get("result") is not True:
                    break
            else:
                self._stray(message)
        for event in early:
            self._judge.event(event, self._pending)
        return answer

    def _read(self, raw: str | bytes, most: int) -> Mapping[str, Any] | None:
        """The object in a message; a message that holds none is reported."""
        actual = None
        if isinstance(raw, bytes):
            actual = f"a binary message of {len(raw):,} bytes"
        elif len(raw) > most:
            actual = f"{len(raw):,} characters, where at most {most:,} can be due"
        else:
            try:
                reader = ObjectReader()
                message = parse(raw.encode(), reader)
            except MalformedPayload as problem:
                actual = f"{clip(printable(raw))}: {problem}"
            else:
                if isinstance(message, dict):
                    self._notice_doubled(message, reader)
                    return message
                actual = clip(printable(raw))
        self._verdicts.add(Noticed("unreadable", CONNECTION, (), "", actual))
        return None

    def _notice_doubled(self, message: Mapping[str, Any], reader: ObjectReader) -> None:
        """Keys that an object of a message has more than once."""
        api = api_catalog()
        names = (message.get("command"), message.get("event"))
        texts = [one for one in names if isinstance(one, str)]
        known = [one for one in texts if one in api.commands or one in api.events]
        for tokens in islice(reader.doubled_keys(message), MOST_DOUBLED):
            table = str(known[0]) if known else CONNECTION
            self._verdicts.add(Noticed("doubled-key", table, tokens, "", shown(tokens[-1])))

    def _stray(self, message: Mapping[str, Any]) -> None:
        """An answer that nothing waits for: too late, to what is to be dropped, or to nothing."""
        number = message.get("requestId")
        if _is_known(number, self._last) and number in self._given_up:
            return
        if self._dropped is not None:
            dropped, request = self._dropped
            if number == dropped or not _is_known(number, self._last):
                table, shown = request.command, request.shown
                noticed = Noticed("answered-dropped", table, request=shown)
                if message.get("result") is True:
                    noticed = Noticed("result", table, ("result",), "no answer", "true", shown)
                self._verdicts.add(noticed)
                return
        command = message.get("command")
        actual = (
            f"command {clip(printable(str(command)))}, requestId {clip(printable(str(number)))}"
        )
        self._verdicts.add(Noticed("stray", CONNECTION, (), "", actual))


def _is_event(message: Mapping[str, Any]) -> bool:
    return "requestId" not in message and (message.get("type") == "event" or "event" in message)


def _answers(message: Mapping[str, Any], request: Request, number: int) -> bool:
    """Whether a message is meant to be the answer: by its number, or else by its command."""
    received = message.get("requestId")
    if _is_known(received, number):
        return bool(received == number)
    return message.get("command") == request.command


def _is_known(number: Any, last: int) -> bool:
    """Whether a requestId is one that was sent."""
    return type(number) is int and 0 < number <= last
