"""The layer of scopes in a time line, made of the full names of operators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

TOPS = ("Default", "Gradients", "recompute_Default")
"""What names of operators with a scope begin with."""

LAYER = "Scope Layer"
_EXACT = Decimal("0.000")

Event: TypeAlias = Mapping[str, Any]
Scoped: TypeAlias = tuple[Sequence[str], Decimal, Decimal]
"""The scopes of an operator, the outermost first, its start and its end."""


@dataclass
class _Scope:
    """A scope at one depth: its name, and Unix us."""

    name: str
    start: Decimal
    end: Decimal

    def event(self, process: int, depth: int) -> Event:
        """As it is drawn."""
        return {
            **{"name": self.name, "pid": process, "tid": depth, "ph": "X"},
            **{"ts": str(self.start), "dur": float(self.end - self.start)},
        }


def scoped(events: Iterable[Event]) -> Iterator[Scoped]:
    """Scopes, starts and ends of the events of operators with a scope."""
    for one in events:
        name = one.get("name")
        if one.get("ph") == "M" or not isinstance(name, str) or not name.startswith(TOPS):
            continue
        start, length = moment(one.get("ts")), moment(one.get("dur"))
        if start is not None and length is not None:
            yield name.split("/")[:-1], start, start + length


def moment(value: Any) -> Decimal | None:
    """A time of an event, a number or a text of one, with three decimals; ``None`` for others."""
    try:
        found = Decimal(value).quantize(_EXACT)
    except (TypeError, ValueError, InvalidOperation):
        return None
    return None if found.is_nan() else found


def scope_events(
    operators: Iterable[Scoped], process: int, sort_index: int, name: str = LAYER
) -> list[Event]:
    """The layer of scopes: those that follow each other at one depth are one, and what runs while
    the first of an operator does has none.

    process, sort_index, name: of the layer.
    """
    ordered = sorted(operators, key=lambda one: one[1])
    if not ordered or not ordered[0][0]:
        return []
    names, start, end = ordered[0]
    open_ = [_Scope(scope, start, end) for scope in names]
    closed: list[Event] = []
    for names, start, end in ordered[1:]:
        if start < open_[0].end:
            continue
        is_same = True
        for depth, scope in enumerate(names):
            if depth >= len(open_):
                open_.append(_Scope(scope, start, end))
            elif is_same and open_[depth].name == scope:
                open_[depth].end = end
            else:
                closed.append(open_[depth].event(process, depth))
                open_[depth] = _Scope(scope, start, end)
                is_same = False
    threads: list[Event] = []
    for depth, one in enumerate(open_):
        of = {"pid": process, "tid": depth}
        named, sorted_ = {"name": f"layer{depth}"}, {"sort_index": depth}
        threads.append({"name": "thread_name", **of, "args": named, "ph": "M"})
        threads.append({"name": "thread_sort_index", **of, "args": sorted_, "ph": "M"})
        closed.append(one.event(process, depth))
    head = process_events(process, sort_index, name)
    return [*head, *threads, *closed]


def process_events(process: int, sort_index: int, name: str) -> list[Event]:
    """The events that name a process and give its place."""
    return [
        {"name": "process_name", "pid": process, "args": {"name": name}, "ph": "M"},
        {
            "name": "process_sort_index",
            "pid": process,
            "args": {"sort_index": sort_index},
            "ph": "M",
        },
    ]
