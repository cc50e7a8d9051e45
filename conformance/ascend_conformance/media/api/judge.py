"""Messages of the server against their schemas and against the truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ascend_spec import api_catalog
from ascend_spec.api import LATEST

from ...engine.json_values import shown
from ...engine.schema_judge import Departure, Tokens
from .forms import body_form, departures_in, event_form, in_older_form, response_form
from .names import Names
from .options import COMPARED, IMPORT
from .plan import Request
from .rules import Finds
from .truth import differences, habits_of
from .verdicts import Message, Noticed, Verdicts

BODY: Tokens = ("body",)

TRACES, SUCCESS, FAIL = "unit/threadTraces", "parse/success", "parse/fail"

UNKNOWN_EVENT = "event"
"""The place of findings about events that the API does not have."""


class Judge:
    """Judges messages one after the other; what it learns of the server counts for the next.

    ``generation`` is that of the answer to the import, the newest until then.
    """

    def __init__(self, verdicts: Verdicts, names: Names) -> None:
        self.generation = LATEST
        self._verdicts = verdicts
        self._names = names
        self._numbers: set[Any] = set()
        self._is_recognised = False

    def connected_anew(self) -> None:
        """Forget what holds for one connection only."""
        self._numbers.clear()

    def recognise(self, request: Request, received: Message) -> None:
        """Learn from an answer to the first import which generation the server speaks.

        It is the one whose form the body is nearest to, the newest where all are as near.
        """
        if request.command != IMPORT or self._is_recognised:
            return
        self._is_recognised = True
        body = received.get("body")
        generations = [known.id for known in api_catalog().generations]
        self.generation = min(
            reversed(generations), key=lambda one: len(departures_in(body_form(IMPORT, one), body))
        )
        self._names.learn_card(body)

    # --- answers -------------------------------------------------------------------------------

    def answer(self, request: Request, number: int, due: Message, received: Message) -> None:
        """Judge the answer to a request that has this number."""
        condemned = self._envelope(request, number, due, received)
        if not isinstance(received.get("result"), bool):
            return
        if due["result"] is not received["result"]:
            actual = f"{shown(received['result'])}{_reason_of(received)}"
            self._notice("result", request, ("result",), shown(due["result"]), actual)
        elif due["result"] and BODY not in condemned:
            self._body(request, due["body"], received["body"])
        elif "error" in due and "error" not in received and self.generation == LATEST:
            self._notice("no-reason", request, ("error",), shown(due["error"]), "nothing")

    def _envelope(
        self, request: Request, number: int, due: Message, received: Message
    ) -> set[Tokens]:
        departures = departures_in(response_form(self.generation), dict(received))
        for departure in departures:
            finds: Finds = "unknown-key" if departure.is_unknown_key else "envelope"
            self._depart(finds, request.command, departure, request.shown)
        condemned = {departure.tokens for departure in departures}
        echoed = {
            "requestId": number,
            "command": request.command,
            "moduleName": due["moduleName"],
        }
        for key, value in echoed.items():
            if (key,) not in condemned and received[key] != value:
                self._notice("envelope", request, (key,), shown(value), shown(received[key]))
        if ("id",) not in condemned:
            if received["id"] in self._numbers:
                self._notice(
                    "repeated-number", request, ("id",), "another number", shown(received["id"])
                )
            self._numbers.add(received["id"])
        return condemned

    def _body(self, request: Request, due: Any, received: Any) -> None:
        command = request.command
        departures = self._departures(command, self.generation, due, received)
        expected = self._in_form(command, self.generation, due)
        if any(not departure.is_unknown_key for departure in departures):
            for other in (known.id for known in api_catalog().generations):
                if self._is_like(command, other, due, received):
                    self._notice("generation", request, BODY, self.generation, other)
                    departures, expected = [], self._in_form(command, other, due)
        condemned = set()
        for departure in departures:
            is_known = departure.spot.own_erratum is not None and self.generation != LATEST
            finds: Finds = "known-departure" if is_known else "schema"
            if departure.is_unknown_key:
                finds = "unknown-key"
            if finds != "known-departure":
                condemned.add(departure.tokens)
            self._depart(finds, command, departure, request.shown)
        named = self._names.in_reference(command, request.params, received)
        habits = habits_of(command, compared=bool(request.params.get(COMPARED)))
        for found in differences(expected, named, habits, BODY, condemned):
            self._notice(found.finds, request, found.tokens, found.expected, found.actual)
        if command == TRACES:
            self._names.learn_slices(expected, named)

    def _departures(
        self, command: str, generation: str, due: Any, received: Any
    ) -> list[Departure]:
        """The departures of a body, but for those that the file itself brings about."""
        expected = self._in_form(command, generation, due)
        form = body_form(command, generation).like(expected)
        found = departures_in(form, received, BODY)
        of_file = {one.tokens for one in departures_in(form, expected, BODY)} if found else ()
        return [one for one in found if one.tokens not in of_file]

    def _is_like(self, command: str, generation: str, due: Any, received: Any) -> bool:
        if generation == self.generation or not speaks(generation, command):
            return False
        return not self._departures(command, generation, due, received)

    @staticmethod
    def _in_form(command: str, generation: str, body: Any) -> Any:
        return body if generation == LATEST else in_older_form(command, body, generation)

    # --- events --------------------------------------------------------------------------------

    def event(self, received: Message, pending: list[Message]) -> None:
        """Judge an event, and remove the one that it is from those that are ``pending``.

        Events of the older generation are not judged: the documents name none.
        """
        name, body = received.get("event"), received.get("body")
        due = next((event for event in pending if event["event"] == name), None)
        if due is not None:
            pending.remove(due)
        if self.generation == LATEST:
            is_known = isinstance(name, str) and name in api_catalog().events
            self._event(str(name) if is_known else UNKNOWN_EVENT, received, due)
        if name == SUCCESS:
            self._names.learn_lanes(body)

    def _event(self, table: str, received: Message, due: Message | None) -> None:
        body = received.get("body")
        departures = departures_in(event_form(None), dict(received))
        if table != UNKNOWN_EVENT and isinstance(body, dict):
            departures += departures_in(event_form(table), body, BODY)
        for departure in departures:
            finds: Finds = "unknown-key" if departure.is_unknown_key else "event"
            self._depart(finds, table, departure, "")
        condemned = {departure.tokens for departure in departures}
        if due is not None:
            for key in ("moduleName", "body"):
                received_here, habits = received.get(key), habits_of(table)
                for found in differences(due[key], received_here, habits, (key,), condemned):
                    self._verdicts.add(
                        Noticed("event", table, found.tokens, found.expected, found.actual)
                    )
        elif table == FAIL:
            error = body.get("error") if isinstance(body, dict) else None
            self._verdicts.add(Noticed("event", FAIL, ("event",), SUCCESS, shown(error)))

    def missing_events(self, request: Request, pending: list[Message]) -> None:
        """Report events that did not come; the documents of the older generation promise none."""
        for event in pending if self.generation == LATEST else ():
            expected = f"the event after {request.command}"
            self._verdicts.add(Noticed("event", event["event"], (), expected, "nothing"))

    # --- both ----------------------------------------------------------------------------------

    def _depart(self, finds: Finds, table: str, departure: Departure, request: str) -> None:
        self._verdicts.add(
            Noticed(
                finds,
                table,
                departure.tokens,
                departure.spot.expected,
                departure.actual,
                request,
                departure.spot.own_erratum if finds == "known-departure" else None,
            )
        )

    def _notice(
        self, finds: Finds, request: Request, tokens: Tokens, expected: str, actual: str
    ) -> None:
        self._verdicts.add(Noticed(finds, request.command, tokens, expected, actual, request.shown))


def speaks(generation: str, command: str) -> bool:
    """Whether a generation of the API has a command."""
    known = api_catalog()
    order = [one.id for one in known.generations]
    since = known.commands[command].since
    return since is None or order.index(generation) >= order.index(since)


def _reason_of(received: Mapping[str, Any]) -> str:
    error = received.get("error")
    return f", {shown(error.get('message'))}" if isinstance(error, dict) else ""
