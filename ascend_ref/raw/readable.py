"""Records as readable values: bits by their names, texts in place of their numbers, Unix times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import construct
import numpy as np
import numpy.typing as npt

from ascend_spec import catalog, ge_catalog, per_spec, raw_catalog
from ascend_spec.core.packed import ClockName, Field, FieldFacts
from ascend_spec.raw.records import HASH_DIC

from .clocks import OUT_OF_RANGE, Clock
from .dictionaries import TYPES, Names
from .fields import bits_of
from .vocabulary import named

TEXT = "_text"
"""What follows the name of a number in that of what it means."""

UNIX = "_ns"
"""What follows the name of a time in that of the same as Unix time."""

Value = Any
"""What JSON can hold."""


@per_spec
def set_of(values: str) -> Mapping[int, str]:
    """What the numbers of a set are called, in raw files or in databases."""
    if values in raw_catalog().vocabularies:
        return named(values)
    enum = catalog().enums[values]
    return {int(one.id): one.name for one in enum.members} | dict(named("hccl_no_type"))


@dataclass(frozen=True, slots=True)
class Reading:
    """What numbers mean that records do not hold themselves.

    ``names`` of the profile; its ``clocks``, those that can be known; ``counter``: the name of that
    by which ticks are counted whose field names no clock. ``sets``: what the numbers of a set are
    called, by its name.
    """

    names: Names = field(default_factory=Names)
    clocks: Mapping[str, Clock] = field(default_factory=dict)
    counter: ClockName | None = None
    sets: Callable[[str], Mapping[int, str]] = set_of

    def clock(self, facts: FieldFacts) -> Clock | None:
        """The clock of a field; ``None`` for what is no time, or of a clock that is not known."""
        name = facts.clock or (self.counter if facts.unit == "tick" else None)
        return self.clocks.get(name) if name is not None else None


def readable(
    declaration: construct.Struct, rows: npt.NDArray[Any], reading: Reading
) -> list[dict[str, Value]]:
    """Each record as a dictionary, in the order of its fields."""
    columns = dict(_columns(declaration, rows, reading))
    if not columns:
        return [{} for _ in range(len(rows))]
    keys = list(columns)
    return [dict(zip(keys, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _columns(
    form: construct.Struct | construct.Union, rows: npt.NDArray[Any], reading: Reading
) -> Iterator[tuple[str, Sequence[Value]]]:
    for one in form.subcons:
        if not one.name or one.name not in (rows.dtype.names or ()):
            continue
        column = rows[one.name]
        inner = _inner(one)
        if parts := bits_of(one):
            for name, (shift, mask) in parts.items():
                numbers = column.astype(np.uint64) >> np.uint64(shift) & np.uint64(mask)
                yield from _numbers(_part(one, name), name, numbers, rows, reading)
        elif isinstance(inner, (construct.Struct, construct.Union)):
            yield one.name, readable(inner, column, reading)
        elif isinstance(inner, construct.Array) and column.dtype.names:
            flat = readable(_inner(inner.subcon), column.reshape(-1), reading)
            count = column.shape[1]
            yield one.name, [flat[at : at + count] for at in range(0, len(flat), count)]
        elif column.dtype.kind in "SV":
            yield one.name, [_text(value) for value in column.tolist()]
        else:
            yield from _numbers(one, one.name, column, rows, reading)


def _numbers(
    form: construct.Construct,
    name: str,
    column: npt.NDArray[Any],
    rows: npt.NDArray[Any],
    reading: Reading,
) -> Iterator[tuple[str, Sequence[Value]]]:
    yield name, column.tolist()
    facts = form.facts if isinstance(form, Field) else None
    if facts is None or column.ndim > 1:
        return
    if facts.values is not None:
        texts = _meanings(facts.values, column, rows, reading)
        if any(text is not None for text in texts):
            yield name + TEXT, texts
    clock = reading.clock(facts)
    if clock is not None and column.dtype.kind in "ui":
        times = clock.times(column)
        yield name + UNIX, [None if one == OUT_OF_RANGE else one for one in times.tolist()]


def _meanings(
    values: str, column: npt.NDArray[Any], rows: npt.NDArray[Any], reading: Reading
) -> list[str | None]:
    names = reading.names
    if values == HASH_DIC:
        return [names.texts.get(one) for one in column.tolist()]
    if values == TYPES:
        levels = rows["level"].tolist()
        known = ge_catalog().registered
        pairs = zip(levels, column.tolist(), strict=True)
        return [names.types.get(pair) or known.get(pair) for pair in pairs]
    meanings = reading.sets(values)
    return [meanings.get(one) for one in column.tolist()]


def _part(form: construct.Construct, name: str) -> construct.Construct:
    """The declaration of a part of bits."""
    return next(one for one in _subcons(form) if one.name == name)


def _subcons(form: construct.Construct) -> Iterator[construct.Construct]:
    while hasattr(form, "subcon"):
        form = form.subcon
    yield from getattr(form, "subcons", ())


def _inner(form: construct.Construct) -> construct.Construct:
    """The form without names, and of a padded union the union."""
    while isinstance(form, (construct.Renamed, construct.Padded, construct.FixedSized)):
        form = form.subcon
    return form


def _text(value: bytes) -> str:
    return value.rstrip(b"\0").decode("utf-8", "backslashreplace")
