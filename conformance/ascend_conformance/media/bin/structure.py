"""The structural half: every payload against the JSON Schemas of every epoch, and its findings."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from ascend_ref.bin import Entry, MalformedPayload
from ascend_ref.bin.epochs import elected, signs_borne
from ascend_spec import bin_catalog, per_spec

from ...engine.schema_judge import Group, Groups
from ...engine.sliced_judge import SLICE, SlicedJudge
from ...finding import Finding, Skipped
from .flatten import pointer_to
from .keys import KeyInventory
from .places import Locator, block_label, first_place, shown
from .rules import BinRule

EVENTS = "traceEvents"

ERRORS = 20_000
"""Errors that are explained of one block type; then the judgement of its payloads ends."""

_LEAST = math.ulp(0.0)
_SCALARS = frozenset({str, int, bool, type(None)})

GroupKey: TypeAlias = tuple[int, str, str]
"""Block type, place and keyword: what makes groups of different epochs the same."""


@per_spec
def _owners(code: int) -> dict[str, str]:
    """By epoch: the oldest epoch whose schema for a block type is the same."""
    first: dict[str, str] = {}
    return {
        epoch.id: first.setdefault(_spelled(code, epoch.id), epoch.id)
        for epoch in bin_catalog().epochs
    }


def _spelled(code: int, epoch: str) -> str:
    """The schema without its name, which holds the epoch."""
    schema = bin_catalog().payload_schema(code, epoch)
    return json.dumps({**schema, "$id": None}, sort_keys=True)


@per_spec
def _judge(code: int, epoch: str) -> SlicedJudge:
    return SlicedJudge(bin_catalog().payload_schema(code, epoch), as_written)


class Structure:
    """Sees every payload of a file, and then states its epoch and what its schemas find wrong."""

    def __init__(self, judged_by: str | None = None) -> None:
        """``judged_by``: the epoch of the file, whatever signs its blocks bear."""
        self._judged_by = judged_by
        self._groups: dict[tuple[int, str], Groups] = {}
        self._borne: dict[int, list[str]] = {}
        self._keys: dict[int, KeyInventory] = {}
        self._events: list[Any] = []
        self._next_event = 0

    def see_payload(self, entry: Entry, value: Any) -> None:
        """Take a whole payload; of a timeline, after its events and with none or one of them."""
        self._take_events(entry)
        seen = EVENTS if self._next_event else None
        self._next_event = 0
        self._note_signs(entry.type, value)
        self._inventory(entry.type).see(entry.ordinal, value, ())
        strict = without_whole_floats(value)
        for epoch, groups in self._own_groups(entry.type):
            _judge(entry.type, epoch).judge(entry.ordinal, strict, groups, without=seen)

    def see_event(self, entry: Entry, value: Any) -> None:
        """Take the next event of a timeline. Raises ``MalformedPayload`` for half surrogates."""
        self._events.append(value)
        if len(self._events) >= SLICE:
            self._take_events(entry)

    @property
    def epoch(self) -> str:
        """The epoch by which the file is judged."""
        return self._judged_by or self.own

    @property
    def own(self) -> str:
        """The epoch by the signs of the blocks. One is out whose schema finds a fault where the
        newest finds nothing.
        """
        epochs = [epoch.id for epoch in bin_catalog().epochs]
        votes = (
            (borne, not borne or self._no_more_in(code, epochs[-1], borne[0]))
            for code, borne in self._borne.items()
        )
        out = {
            epoch for epoch in epochs for code in self._borne if self._speaks_against(code, epoch)
        }
        return elected(votes, out)

    def _speaks_against(self, code: int, epoch: str) -> bool:
        """Whether a fault in a block is none by the newest schema, which has looked there."""
        seen = tuple(
            group.place for group in self._found(code, bin_catalog().epochs[-1].id).values()
        )
        faults = (group for group in self._found(code, epoch).values() if not group.advisory)
        return any(not group.place.startswith(seen) for group in faults)

    def _no_more_in(self, code: int, epoch: str, other: str) -> bool:
        """Whether a schema finds nothing in a block that another does not find."""
        return self._found(code, epoch).keys() <= self._found(code, other).keys()

    def _found(self, code: int, epoch: str) -> Groups:
        return self._groups.get((code, _owners(code)[epoch]), Groups(ERRORS))

    def _of(self, epoch: str) -> Iterator[tuple[int, Groups]]:
        """What the schemas of an epoch find wrong, by block type."""
        for (code, owner), groups in sorted(self._groups.items(), key=lambda one: one[0]):
            if _owners(code)[epoch] == owner:
                yield code, groups

    def groups(self, epoch: str) -> dict[GroupKey, Group]:
        """What the schemas of an epoch find wrong."""
        return {
            (code, *key): group for code, groups in self._of(epoch) for key, group in groups.items()
        }

    def overruns(self, epoch: str) -> list[int]:
        """Block types with more errors than are explained, by the schemas of an epoch."""
        return [code for code, groups in self._of(epoch) if groups.is_full]

    def unknown_keys(self, epoch: str) -> Iterator[tuple[int, Group]]:
        """Keys that the schemas of an epoch do not describe, by block type and object."""
        for code, inventory in sorted(self._keys.items(), key=lambda one: one[0]):
            for group in inventory.unknown(epoch):
                yield code, group

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
            yield epoch, self._groups.setdefault((code, epoch), Groups(ERRORS))

    def _inventory(self, code: int) -> KeyInventory:
        return self._keys.setdefault(code, KeyInventory(code))

    def _note_signs(self, code: int, value: Any) -> None:
        borne = signs_borne(code, value)
        if borne is not None:
            self._borne[code] = borne


def without_whole_floats(value: Any) -> Any:
    """The value with every whole float, such as ``1.0``, replaced by its neighbour towards 0.

    JSON Schema takes it for an integer, and no viewer does; so a schema that asks for one finds it.

    From 2^53 on the neighbour is whole as well, and the schema takes it for an integer.
    """
    if isinstance(value, float):
        return (math.nextafter(value, 0.0) or _LEAST) if value.is_integer() else value
    if isinstance(value, list):
        return [without_whole_floats(item) for item in value] if _may_hold_floats(value) else value
    if isinstance(value, dict):
        if _may_hold_floats(value.values()):
            return {key: without_whole_floats(inner) for key, inner in value.items()}
        return value
    return value


def _may_hold_floats(values: Iterable[Any]) -> bool:
    """Fast, for most containers of a large payload hold texts and integers only."""
    return not _SCALARS.issuperset(map(type, values))


def as_written(value: Any) -> Any:
    """The whole float that a number of :func:`without_whole_floats` stands for, or the value."""
    if not isinstance(value, float) or value.is_integer():
        return value
    if value == _LEAST:
        return 0.0
    away = math.nextafter(value, math.copysign(math.inf, value))
    return away if away.is_integer() else value


def schema_findings(
    locator: Locator, structure: Structure, epoch: str, rules: Sequence[BinRule]
) -> Iterator[Finding]:
    """One finding for each place of a schema that the file departs from."""
    searches = [(rule, rule.search.schema) for rule in rules if rule.search.schema is not None]
    newest = bin_catalog().epochs[-1].id
    own = structure.groups(epoch)
    newer = structure.groups(newest).items() if epoch != newest else ()
    found = [
        *(("advisory" if one.advisory else "fault", key[0], one) for key, one in own.items()),
        *(("older", key[0], group) for key, group in newer if key not in own),
        *(("unknown", code, group) for code, group in structure.unknown_keys(epoch)),
    ]
    for finds, code, group in found:
        candidates = [(rule, search) for rule, search in searches if search.finds == finds]
        place = code, group.place
        fitting = [
            (rule, search)
            for rule, search in candidates
            if not search.keywords or group.keyword in search.keywords
        ]
        named = [rule for rule, search in fitting if place in search.places]
        general = [rule for rule, search in fitting if not search.places and search.keywords]
        rest = [rule for rule, search in candidates if not search.places and not search.keywords]
        for rule in (named or general or rest)[:1]:
            yield _finding(locator, rule, code, group, epoch)


def schema_skips(structure: Structure, epoch: str, rules: Sequence[BinRule]) -> Iterator[Skipped]:
    """What was left unjudged because too much is wrong with it."""
    judging = [one for one in rules if one.search.schema and one.search.schema.finds == "fault"]
    for code in structure.overruns(epoch) if judging else ():
        reason = f"given up after {ERRORS:,} departures from the schema"
        yield Skipped(judging[0].id, block_label(code), reason)


def _finding(locator: Locator, rule: BinRule, code: int, group: Group, epoch: str) -> Finding:
    full = pointer_to(group.tokens)
    offset = locator.byte_of(group.document, full)
    pointer = shown(full)
    summary = rule.summary.rstrip(".")
    number = f": {group.count:,}" if group.count > 1 else ""
    return replace(
        rule.finding(locator.file.label, f"{summary}{number}{first_place(offset, pointer)}"),
        expected=rule.expected.replace("{expected}", group.expected),
        table=block_label(code),
        column=group.place or None,
        count=group.count,
        examples=({"value": group.shown},),
        context={
            "count": group.count,
            "keyword": group.keyword,
            "epoch": epoch,
            "offset": offset,
            "pointer": pointer,
        },
        erratum=group.erratum or rule.erratum,
        offset=offset,
        pointer=pointer,
    )
