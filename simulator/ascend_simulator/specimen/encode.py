"""The columns of one database of a specimen, by the ordinary encoders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ascend_ref.capture import Capture
from ascend_ref.db.columns import Values
from ascend_ref.db.encode import encode
from ascend_spec import catalog
from ascend_spec.db.model import Carrier, Reading

from .record import record
from .script import perform
from .shape import Shape

Columns = dict[str, list[Any]]


def build(
    revision: str, carrier: Carrier, shape: Shape | None = None, reading: Reading = "observed"
) -> dict[str, Columns]:
    """Every table that a carrier can hold at a revision, as columns of equal length.

    Tables without rows (a switch of the shape is off, or the level does not collect them) are
    left out, as the exporters do; those that every file has are there. The documented reading has
    tables and names of the documents, with the values of real files. Raises ``KeyError`` for an
    unknown revision.
    """
    schema = catalog().at(revision, carrier, reading)
    written = catalog().at(revision, carrier)
    encoded = encode(capture(shape or Shape(), carrier), written, switched=False)
    spellings = {} if reading == "observed" else _documented_spellings()
    enums: dict[str, dict[str, Values]] = {
        name: {"id": list(members), "name": list(members.values())}
        for name, members in schema.enums.items()
    }
    found = {**encoded, **enums}
    return {
        name: {
            column: _listed(found[name][spellings.get(f"{name}.{column}", column)])
            for column in table.columns
        }
        for name, table in schema.tables.items()
        if name in found
    }


def _documented_spellings() -> dict[str, str]:
    """``TABLE.column`` as the documents spell it, to the name of the column in real files."""
    return {
        f"{place.partition('.')[0]}.{patch['name']}": place.partition(".")[2]
        for erratum in catalog().errata.values()
        for place, patch in erratum.documented.items()
        if "name" in patch
    }


def capture(shape: Shape, carrier: Carrier) -> Capture:
    """What the profiler recorded: of all devices for msprof, else of the rank's own device."""
    devices = tuple(shape.rank + offset for offset in range(shape.devices))
    world = perform(shape, devices if carrier == "msprof" else devices[:1], devices)
    return record(world, shape)


def _listed(values: Values) -> list[Any]:
    if isinstance(values, np.ndarray):
        return list(values.tolist())
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return list(values.to_pylist())
    return list(values) if isinstance(values, Sequence) else []
