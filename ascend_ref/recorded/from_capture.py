"""From captures to a recording."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ascend_ref.capture import RECORDS, Capture, Texts
from ascend_ref.capture.merge import merged
from ascend_ref.capture.model import NONE
from ascend_ref.db.columns import Values
from ascend_ref.db.encode import encode
from ascend_ref.spill import InMemory, Spill, spilled_table
from ascend_spec import Schema, catalog
from ascend_spec.db.model import STRINGS

from .model import Output, Recorded, family_of
from .shape import CARRIERS, Dictionary, Shape, shape_of, shaped, sources
from .tables import INNER

Tables = Mapping[str, Mapping[str, Values]]


def from_captures(
    captures: Sequence[Capture],
    output: Output,
    revision: str | None = None,
    spill: Spill | None = None,
) -> Recorded:
    """The tables of one process; several captures, for ``msprof`` alone, are its devices.

    They hold what a database of the revision holds, by default the newest, and what text files show
    besides. ``spill`` holds long columns of the captures, and takes those of the tables. Raises
    ``ValueError`` for captures that are not of one session, ``KeyError`` for an unknown revision.
    """
    capture = merged(captures)
    revision = revision or catalog().revisions[-1].id
    tables: dict[str, pa.Table] = {}
    for carrier in CARRIERS[output]:
        schema = catalog().at(revision, carrier)
        if output == "mindspore" and carrier == "analysis":
            schema = schema.without_adapter  # it divides msprof's analysis itself
        encoded = encode(capture, schema, for_texts=True, spill=spill)
        strings = _strings(encoded)
        for name, columns in encoded.items():
            if name != INNER:
                shape = shape_of(output, name)
                parts = _parts(shape, schema, columns, strings, spill or InMemory())
                tables[name] = (
                    pa.Table.from_arrays(list(next(parts)), schema=shape.schema)
                    if spill is None
                    else spilled_table(spill, shape.schema, parts)
                )
    switches, origin = capture.switches, capture.origin
    counted = switches.npu and switches.level > 0
    return Recorded(
        output=output,
        revision=revision,
        origin=replace(
            origin,
            family=origin.family or family_of(origin.chip),
            rank=NONE if output == "msprof" else origin.rank,
        ),
        switches=switches if counted else replace(switches, aic_metrics=None),
        tables=tables,
        extras=_extras(capture),
        spill=spill or Spill(),
    )


def _strings(encoded: Tables) -> Dictionary:
    columns = encoded.get(INNER, {"id": [], "value": []})
    return Dictionary(np.array(columns["id"], np.int64), pa.array(columns["value"]).to_pylist())


def _parts(
    shape: Shape,
    schema: Schema,
    columns: Mapping[str, Values],
    strings: Dictionary,
    spill: Spill,
) -> Iterator[Iterator[pa.Array]]:
    """The columns of a table, batch by batch."""
    present = {
        name: values if isinstance(values := columns[own], pa.Array) else pa.array(values)
        for name, own in sources(shape, schema.tables[shape.name], columns).items()
    }
    for batch in spill.batches(len(next(iter(columns.values())))):
        yield shaped(
            shape,
            shape.schema,
            batch.stop - batch.start,
            {name: values[batch] for name, values in present.items()},
            lambda reference: strings if reference == STRINGS else _members(schema, reference),
        )


def _members(schema: Schema, enum: str) -> Dictionary:
    """The names of an enum at the revision, also where the carrier does not hold its table."""
    return Dictionary.of(catalog().at(schema.revision.id, "pytorch").enums[enum])


def _extras(capture: Capture) -> Mapping[str, pa.Table]:
    return {
        name: pa.table(
            {
                column: text_column(values, capture.texts)
                if column in RECORDS[name].texts
                else pa.array(values)
                for column, values in columns.items()
            }
        )
        for name, columns in capture.records.items()
    }


def text_column(numbers: Any, texts: Texts) -> pa.DictionaryArray:
    """A column of numbers of a capture's texts; NULL where it is negative."""
    dictionary = Dictionary(np.arange(len(texts)), texts.all)
    present = numbers >= 0
    return dictionary.column(np.where(present, numbers, 0), present)
