"""The structural half: every payload against the JSON Schemas of every epoch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema_rs

from ascend_ref.bin import Entry, MalformedPayload
from ascend_spec.bin import bin_catalog

from .keys import KeyInventory
from .schemajudge import SLICE, Group, Groups, SchemaJudge

EVENTS = "traceEvents"


@cache
def _owners(code: int) -> dict[str, str]:
    """By epoch: the oldest epoch whose schema for a block type is the same."""
    first: dict[str, str] = {}
    return {
        epoch.id: first.setdefault(_spelled(code, epoch.id), epoch.id)
        for epoch in bin_catalog().epochs
    }


def _spelled(code: int, epoch: str) -> str:
    return json.dumps(bin_catalog().payload_schema(code, epoch), sort_keys=True)


@cache
def _judge(code: int, epoch: str) -> SchemaJudge:
    return SchemaJudge(code, bin_catalog().payload_schema(code, epoch))


@cache
def _signs() -> dict[str, dict[int, jsonschema_rs.Draft202012Validator]]:
    return {
        epoch.id: {
            code: jsonschema_rs.Draft202012Validator(dict(form))
            for code, form in epoch.signs.items()
        }
        for epoch in bin_catalog().epochs
    }


class Structure:
    """Sees every payload of a file, and then tells its epoch and what its schemas have to say."""

    def __init__(self) -> None:
        self._groups: dict[tuple[int, str], Groups] = {}
        self._votes = dict.fromkeys(_signs(), 0)
        self._keys: dict[int, KeyInventory] = {}
        self._events: list[Any] = []
        self._next_event = 0

    def see_payload(self, entry: Entry, value: Any) -> None:
        """Take a whole payload; of a timeline, after its events and with none or one of them."""
        self._take_events(entry)
        seen = EVENTS if self._next_event else None
        self._next_event = 0
        self._vote(entry.type, value)
        self._inventory(entry.type).see(entry.ordinal, value, ())
        for epoch, groups in self._own_groups(entry.type):
            _judge(entry.type, epoch).judge(entry.ordinal, value, groups, without=seen)

    def see_event(self, entry: Entry, value: Any) -> None:
        """Take the next event of a timeline. Raises ``MalformedPayload`` for half surrogates."""
        self._events.append(value)
        if len(self._events) >= SLICE:
            self._take_events(entry)

    @property
    def epoch(self) -> str:
        """The epoch whose signs most blocks bear, of equals the oldest; without any, the newest."""
        if not any(self._votes.values()):
            return bin_catalog().epochs[-1].id
        return max(self._votes, key=lambda epoch: self._votes[epoch])

    def groups(self, epoch: str) -> Groups:
        """What the schemas of an epoch find wrong."""
        found = Groups()
        for (code, owner), groups in sorted(self._groups.items()):
            if _owners(code)[epoch] == owner:
                found.update(groups)
        return found

    def overruns(self, epoch: str) -> list[int]:
        """Block types with more errors than are explained, by the schemas of an epoch."""
        return [
            code
            for (code, owner), groups in sorted(self._groups.items())
            if groups.overrun and _owners(code)[epoch] == owner
        ]

    def unknown_keys(self, epoch: str) -> Iterator[Group]:
        """Keys that the schemas of an epoch do not describe, by the object that holds them."""
        for _, inventory in sorted(self._keys.items()):
            yield from inventory.unknown(epoch)

    def _take_events(self, entry: Entry) -> None:
        events, self._events = self._events, []
        if not events:
            return
        first = self._next_event
        self._next_event += len(events)
        try:
            for epoch, groups in self._own_groups(entry.type):
                judge = _judge(entry.type, epoch)
                judge.judge_elements(entry.ordinal, EVENTS, first, events, groups)
        except UnicodeEncodeError:
            raise MalformedPayload(0, "half a surrogate pair as escape") from None
        inventory = self._inventory(entry.type)
        for index, event in enumerate(events, start=first):
            inventory.see(entry.ordinal, event, (EVENTS, index))

    def _own_groups(self, code: int) -> Iterator[tuple[str, Groups]]:
        for epoch in dict.fromkeys(_owners(code).values()):
            yield epoch, self._groups.setdefault((code, epoch), Groups())

    def _inventory(self, code: int) -> KeyInventory:
        return self._keys.setdefault(code, KeyInventory(code))

    def _vote(self, code: int, value: Any) -> None:
        """One vote for each epoch whose sign the payload bears; without any, for the newest."""
        signs = {epoch: forms[code] for epoch, forms in _signs().items() if code in forms}
        if not signs:
            return
        borne = [epoch for epoch, form in signs.items() if form.is_valid(value)]
        for epoch in borne or [bin_catalog().epochs[-1].id]:
            self._votes[epoch] += 1
