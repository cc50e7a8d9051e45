"""The forms of the lines of these texts, as the spec has them, as expressions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Formatter

from ascend_spec import ge_catalog, per_spec
from ascend_spec.ge import Dump
from ascend_spec.ge.reports import DumpName

from .records import DumpRecord

PARTS: Mapping[str, str] = {
    "time": r"[0-9]{1,20}",
    "thread": r"-?[0-9]{1,20}",
    "count": r"[0-9]{1,20}",
    "capacity": r"[0-9]{1,20}",
    "number": r"[0-9]{1,20}",
    "version": r"[^,]{1,64}",
    "element": r".*",
    "event": r".*",
    "state": r"[^ \[\]]*",
}
"""What changes in the lines."""

START, END = 0, 1
"""Numbers of the two sides of a scope."""

LONGEST = 1 << 16
"""Bytes of a line; a longer one is none of these."""


@per_spec
def heads() -> Mapping[DumpName, re.Pattern[str]]:
    """First lines, by writer."""
    return {name: expression(one.head) for name, one in ge_catalog().dumps.items()}


@per_spec
def overflows() -> Mapping[DumpName, re.Pattern[str]]:
    """Lines on what was dropped, by writer."""
    return {name: expression(one.overflow) for name, one in ge_catalog().dumps.items()}


@per_spec
def records() -> Mapping[DumpName, re.Pattern[str]]:
    """Lines of records, by writer."""
    return {name: expression(one.record) for name, one in ge_catalog().dumps.items()}


def expression(form: str) -> re.Pattern[str]:
    """A form as an expression with a group for each part."""
    text = ""
    for fixed, name, _, _ in Formatter().parse(form):
        text += re.escape(fixed)
        if name is not None:
            text += f"(?P<{name}>{PARTS[name]})"
    return re.compile(text)


def state_of(dump: Dump, element: str, event: str, word: str) -> int | None:
    """The number of the kind of a record by its last word; nothing for a word that is none."""
    if dump.model == (element, event):
        found = next((number for number, one in dump.models.items() if one == word), None)
        if found is not None:
            return found
    found = next((number for number, one in dump.states.items() if one == word), None)
    if found is not None:
        return found
    if dump.timestamp is not None and word == dump.timestamp:
        return max(dump.states) + 1
    other = expression(dump.other).fullmatch(word) if dump.other is not None else None
    return int(other["number"]) if other else None


def word_of(dump: Dump, record: DumpRecord) -> str:
    """The last word of a record. Raises ``ValueError`` for a kind that has none."""
    state = record.state
    own = dump.models if dump.model == (record.element, record.event) else {}
    word = {**dump.states, **own}.get(state)
    if word is not None:
        return word
    if dump.timestamp is not None and state == max(dump.states) + 1:
        return dump.timestamp
    if dump.other is None:
        raise ValueError(f"{dump.dump} writes no record of the kind {state}")
    return dump.other.format(number=state)


def side_of(dump: Dump, record: DumpRecord) -> int | None:
    """:data:`START` or :data:`END`, by the word of a record; nothing for another word."""
    word = word_of(dump, record)
    return next((state for state, one in dump.states.items() if one == word), None)
