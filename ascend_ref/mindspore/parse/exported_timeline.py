"""The time line that msprof exports, with a layer for scopes, and sums of its operators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from .documents import Malformed, read_document
from .exported import exported_operators, files_of_export
from .run import Run
from .tables import write_document

KIND = "msprof_timeline"
DISPLAY, SUMMARY = "ascend_timeline_display", "ascend_timeline_summary"

TOPS = ("Default", "Gradients", "recompute_Default")
"""What names of operators with a scope begin with."""

PROCESS = 4
"""Of the layer of scopes."""

_EXACT = Decimal("0.000")

Event: TypeAlias = Mapping[str, Any]


@dataclass
class _Scope:
    """A scope at one depth: its name, and Unix us."""

    name: str
    start: Decimal
    end: Decimal

    def event(self, depth: int) -> Event:
        """As it is drawn."""
        return {
            **{"name": self.name, "pid": PROCESS, "tid": depth, "ph": "X"},
            **{"ts": str(self.start), "dur": float(self.end - self.start)},
        }


def write_exported_timeline(run: Run) -> None:
    """Write ``ascend_timeline_display``, where msprof exported one, and the sums of operators."""
    _write_summary(run)
    events = exported_events(run)
    if events is not None:
        write_document(run, DISPLAY, [*events, *scope_events(_scoped(events))])


@lru_cache(maxsize=1)
def exported_events(run: Run) -> Sequence[Event] | None:
    """The events of the time line; ``None`` where there is none that can be read."""
    files = files_of_export(run, KIND)
    return read_document(files[0].path, _events, run.damage) if files else None


def _events(document: Any) -> Sequence[Event]:
    if not isinstance(document, list) or not all(isinstance(one, dict) for one in document):
        raise Malformed("expected a list of objects")
    return document


def _write_summary(run: Run) -> None:
    operators = exported_operators(run)
    if operators is None or not len(operators):
        return
    streams = operators.export.numbers["stream"]
    values = (
        float(np.sum(operators.duration)),
        len(np.unique(streams)),
        len(operators.names),
        len(operators),
        max(len(one.split("/")) for one in operators.names),
    )
    names = (one.name for one in run.columns(SUMMARY))
    write_document(run, SUMMARY, dict(zip(names, values, strict=True)))


def _scoped(events: Sequence[Event]) -> Iterator[tuple[list[str], Decimal, Decimal]]:
    """Scopes, starts and ends of the events of operators with a scope."""
    for one in events:
        name = one.get("name")
        if one.get("ph") == "M" or not isinstance(name, str) or not name.startswith(TOPS):
            continue
        try:
            start, length = (Decimal(one[key]).quantize(_EXACT) for key in ("ts", "dur"))
        except (KeyError, TypeError, ValueError, InvalidOperation):
            continue
        if start.is_nan() or length.is_nan():
            continue
        yield name.split("/")[:-1], start, start + length


def scope_events(scoped: Iterator[tuple[list[str], Decimal, Decimal]]) -> list[Event]:
    """The layer of scopes: those that follow each other at one depth are one, and what runs while
    the first of an operator does has none.
    """
    ordered = sorted(scoped, key=lambda one: one[1])
    if not ordered or not ordered[0][0]:
        return []
    names, start, end = ordered[0]
    open_ = [_Scope(name, start, end) for name in names]
    closed: list[Event] = []
    for names, start, end in ordered[1:]:
        if start < open_[0].end:
            continue
        is_same = True
        for depth, name in enumerate(names):
            if depth >= len(open_):
                open_.append(_Scope(name, start, end))
            elif is_same and open_[depth].name == name:
                open_[depth].end = end
            else:
                closed.append(open_[depth].event(depth))
                open_[depth] = _Scope(name, start, end)
                is_same = False
    threads: list[Event] = []
    for depth, one in enumerate(open_):
        of = {"pid": PROCESS, "tid": depth}
        named, sorted_ = {"name": f"layer{depth}"}, {"sort_index": depth}
        threads.append({"name": "thread_name", **of, "args": named, "ph": "M"})
        threads.append({"name": "thread_sort_index", **of, "args": sorted_, "ph": "M"})
        closed.append(one.event(depth))
    process = {"pid": PROCESS}
    head: list[Event] = [
        {"name": "process_name", **process, "args": {"name": "Scope Layer"}, "ph": "M"},
        {"name": "process_sort_index", **process, "args": {"sort_index": PROCESS}, "ph": "M"},
    ]
    return [*head, *threads, *closed]
