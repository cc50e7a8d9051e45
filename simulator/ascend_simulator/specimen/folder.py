"""Specimens as columns, by the ordinary encoders, and on disk as the exporters leave them.

Source of the directories: consumers.md 3.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ascend_ref import names
from ascend_ref.atomic import staged
from ascend_ref.capture import Capture
from ascend_ref.db.columns import Values
from ascend_ref.db.encode import encode
from ascend_ref.db.writer import write_database
from ascend_ref.profile.information import Schedule, profiler_info
from ascend_spec import catalog, layout_catalog
from ascend_spec.db.model import Carrier, Reading

from .record import HOST_NAME, record
from .script import perform
from .shape import Shape
from .world import FIRST_STEP, PROCESS, SESSION_START_NS

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


LETTERS = "ABCDEFGHIJKLMNOP"


def write_specimen(folder: Path, revision: str, carrier: Carrier, shape: Shape) -> list[Path]:
    """Write what a profiler leaves of all ranks of a shape below a folder: a directory for each
    with pytorch, one in all with msprof. Returns them. Raises ``FileExistsError``.
    """
    if carrier == "msprof":
        return [write_msprof_folder(folder, revision, shape)]
    ranks = range(shape.ranks)
    return [write_rank_folder(folder, revision, replace(shape, rank=rank)) for rank in ranks]


def write_rank_folder(folder: Path, revision: str, shape: Shape | None = None) -> Path:
    """Write ``{host}_{pid}_{time}_ascend_pt`` below a folder, for one rank; returns its path.

    It holds the profiler database, analysis.db and profiler_info. Ranks of one group differ in
    their process id, so several of them fit side by side. Raises ``FileExistsError`` when the
    directory exists.
    """
    shape = shape or Shape()
    name = names.pytorch_folder(HOST_NAME, PROCESS + shape.rank, SESSION_START_NS)
    with staged(folder / name) as draft:
        output = draft / layout_catalog().folder("pytorch", "output")
        output.mkdir()
        database = layout_catalog().file("pytorch", "database", rank=shape.rank)
        analysis = layout_catalog().file("pytorch", "analysis")
        carriers: tuple[tuple[str, Carrier], ...] = (database, "pytorch"), (analysis, "analysis")
        for file, carrier in carriers:
            schema = catalog().at(revision, carrier)
            write_database(output / file, schema, build(revision, carrier, shape))
        information = json.dumps(_information(revision, shape), indent=4)
        path = draft / layout_catalog().file("pytorch", "profiler_info", copy=shape.rank)
        path.write_text(information, encoding="utf-8")
    return folder / name


def write_msprof_folder(folder: Path, revision: str, shape: Shape | None = None) -> Path:
    """Write ``PROF_{number}_{time}_{letters}/msprof_{14 digits}.db`` below a folder.

    Returns the directory. Raises ``FileExistsError`` when it exists.
    """
    name = names.prof_folder(SESSION_START_NS, LETTERS)
    with staged(folder / name) as draft:
        path = draft / names.msprof_database(SESSION_START_NS)
        write_database(path, catalog().at(revision, "msprof"), build(revision, "msprof", shape))
    return folder / name


def _information(revision: str, shape: Shape) -> dict[str, object]:
    """The switches that a capture of this shape had, and the clocks at its bounds."""
    recorded = capture(shape, "pytorch")
    origin = replace(recorded.origin, devices=(shape.rank,))
    schedule = Schedule(0, shape.steps, 0, 1, FIRST_STEP)
    return profiler_info(catalog().revision(revision), recorded.switches, schedule, origin)
