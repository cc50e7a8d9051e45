"""What events show of the recording as it is: keys, parts of names and args without own code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import addresses, integers, is_one_of
from ascend_ref.arrays import reals as floats
from ascend_ref.capture.batch import Integers
from ascend_ref.recorded import Recorded
from ascend_ref.recorded.shown import ShownValues, TableRows
from ascend_spec.core.shows import Show
from ascend_spec.timeline import Arg, EventKind, Layer

from .events import Events
from .lookup import filled
from .notation import Notation, reals, wholes
from .rows import Fragment

UNKNOWN = "N/A"
KEYS: Mapping[str, str] = {"start": "ts", "length": "dur", "device": "device", "thread": "tid"}
"""Keys of ``shows`` by what they are called in :class:`~.events.Events`."""


FRACTIONS = ("llc.hit_rate",)
"""Percentages that timelines show as fractions (erratum T15)."""


class Filling:
    """Fills the events of one file from the rows of tables that they show.

    device: of rows that have none, as those of older databases.
    """

    def __init__(self, recorded: Recorded, notation: Notation, device: int) -> None:
        self._recorded = recorded
        self._notation = notation
        self._device = device
        self._values = ShownValues(recorded.output)
        self._escaped: dict[tuple[int, ...], tuple[pa.Array, pa.Array]] = {}

    def events(
        self, layer: Layer, kind: EventKind, rows: Mapping[str, Integers], **own: Any
    ) -> Events:
        """One event for each of the rows; ``own``: what :class:`Events` does not show as it is."""
        keys: dict[str, Any] = {
            name: self._numbers(kind.shows[key], rows, self._device if key == "device" else 0)
            for name, key in KEYS.items()
            if key in kind.shows and name not in own
        }
        parts = dict(own.pop("parts", {}))
        for name in kind.name.fields:
            show = kind.shows.get(f"name.{name}", kind.shows.get("name"))
            if name not in parts and show is not None:
                parts[name] = self._part(kind, name, show, rows)
        return Events(layer=layer, kind=kind, parts=parts, rows=rows, **keys, **own)

    def shown_rows(self, kind: EventKind, table: str, part: slice) -> Integers:
        """Of some rows of a table those that events of a kind show, as its ``fixed`` says."""
        rows = np.arange(part.start, part.stop)
        for name, value in kind.fixed.items():
            found = self._shown(Show("plain", (name,)), {table: rows})
            if found is not None:
                rows = rows[is_one_of(found, [str(value)])]
        return rows

    def of(self, arg: Arg, events: Events) -> Fragment:
        """The values of an arg as text without quotes; what stands for no value where nothing is
        known.
        """
        show = events.shows.get(arg.name.template, arg.shows)
        absent = self._values.none_of(show, self._of_tables(events.rows))
        return self._texts(show, events.rows, _nothing(arg, absent), arg.unit)

    def _part(
        self, kind: EventKind, name: str, show: Show, rows: Mapping[str, Integers]
    ) -> Fragment:
        """A changing part of the names of events."""
        field = kind.name.fields[name]
        found = self._texts(show, rows, "0" if field.kind == "integer" else UNKNOWN)
        digits = field.digits
        if digits is None:
            return found
        if isinstance(found, str):
            return found.zfill(digits)
        return pc.utf8_lpad(found, digits, "0")

    def _texts(
        self, show: Show, rows: Mapping[str, Integers], nothing: str, unit: str | None = None
    ) -> Fragment:
        """Values as text without quotes, in a unit."""
        nothing = self._notation.string(nothing)
        values = self._shown(show, rows, unit)
        if values is None:
            return nothing
        if pa.types.is_dictionary(values.type):
            texts = self._without_quotes(values)
            return filled(texts, nothing) if texts.null_count else texts
        if pa.types.is_string(values.type):
            return self._notation.strings(values).fill_null(nothing)
        if pa.types.is_floating(values.type):
            return reals(floats(values))
        if values.null_count:
            return values.cast(pa.string()).fill_null(nothing)
        return wholes(integers(values))

    def _without_quotes(self, values: pa.DictionaryArray) -> pa.DictionaryArray:
        """Texts of JSON; those of a dictionary once for all batches that share it."""
        texts = values.dictionary
        key = addresses(texts)
        if key not in self._escaped:
            self._escaped[key] = texts, self._notation.strings(texts)
        return pa.DictionaryArray.from_arrays(values.indices, self._escaped[key][1], safe=False)

    def _numbers(self, show: Show, rows: Mapping[str, Integers], missing: int) -> Integers | int:
        values = self._shown(show, rows)
        return missing if values is None else integers(values, missing)

    def _shown(
        self, show: Show, rows: Mapping[str, Integers], unit: str | None = None
    ) -> pa.Array | None:
        """What rows of tables have for a cell; ``None`` where they hold no such values."""
        if not rows or show.form == "nothing":
            return None
        values = self._values.of(show, self._of_tables(rows), unit)
        if values is None or show.of[0] not in FRACTIONS:
            return values
        return pc.divide(values, 100)

    def _of_tables(self, rows: Mapping[str, Integers]) -> Mapping[str, TableRows]:
        return {name: TableRows(self._recorded.table(name), own) for name, own in rows.items()}


def _nothing(arg: Arg, absent: int | None) -> str:
    """What stands for no value; ``absent``: in the tables."""
    false = [cell for cell, value in arg.shows.words if value == 0]
    known = [str(one) for one in (*arg.none, *false, *arg.values)]
    if not known and absent is not None and "integer" in arg.json:
        return str(absent)
    return known[0] if known else UNKNOWN if "string" in arg.json else "0"
