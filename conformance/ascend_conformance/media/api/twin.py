"""The reference next to the server: receives every request and states what is due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ascend_ref.tools.serve import Answers, Session
from ascend_ref.tools.serve.envelope import encoded

from .requests import Request

Message = Mapping[str, Any]

UNAWAITED = "parse/progress"
"""The event that comes as often as the server likes."""


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
