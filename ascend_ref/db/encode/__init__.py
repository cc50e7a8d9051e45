"""From a capture to the columns of one database, as the exporters of a revision write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa

from ascend_ref.capture import Capture
from ascend_ref.db.columns import Values
from ascend_ref.spill import InMemory, Spill, spilled_column
from ascend_spec import Schema, recording_catalog
from ascend_spec.db.model import Column, Table

from . import device, framework, memory, metadata
from .analysis import analysis_tables
from .cells import Cells
from .collection import collects
from .recording import Recording, Rows
from .samples import sampled
from .strings import CANN, FRAMEWORK, MEMORY, StringIds

ALWAYS_ON = frozenset({"task-time", "ascendcl", "hccl", "runtime-api", "activity-cpu", "schedule"})
"""Switches that the two activities of the framework's profiler set."""


class Source(NamedTuple):
    """Where rows of a table come from, and the id space of their texts."""

    rows: Callable[[Recording], Rows]
    space: int = CANN


SOURCES: Mapping[str, Sequence[Source]] = {
    "META_DATA": [Source(metadata.facts)],
    "SESSION_TIME_INFO": [Source(metadata.session)],
    "NPU_INFO": [Source(metadata.devices)],
    "HOST_INFO": [Source(metadata.host)],
    "RANK_DEVICE_MAP": [Source(metadata.ranks)],
    "TASK": [Source(device.tasks)],
    "COMPUTE_TASK_INFO": [Source(device.kernels)],
    "COMMUNICATION_SCHEDULE_TASK_INFO": [Source(device.schedules)],
    "TASK_PMU_INFO": [Source(device.counters)],
    "OVERLAP_ANALYSIS": [Source(device.overlaps)],
    "COMMUNICATION_OP": [Source(device.operators)],
    "COMMUNICATION_TASK_INFO": [Source(device.transfers)],
    "MSTX_EVENTS": [Source(framework.marks)],
    "NPU_OP_MEM": [Source(memory.workspace_events)],
    "PYTORCH_API": [Source(framework.activities, FRAMEWORK)],
    "CONNECTION_IDS": [Source(framework.connections)],
    "PYTORCH_CALLCHAINS": [Source(framework.frames, FRAMEWORK)],
    "STEP_TIME": [Source(framework.steps)],
    "OP_MEMORY": [Source(memory.blocks, MEMORY), Source(memory.engine_blocks, CANN)],
    "MEMORY_RECORD": [Source(memory.totals, MEMORY)],
}
"""Tables that are more than the rows of one entity as the capture holds it; the framework takes
names of engine operators from CANN's texts."""


def encode(
    capture: Capture,
    schema: Schema,
    *,
    switched: bool = True,
    for_texts: bool = False,
    spill: Spill | None = None,
) -> dict[str, dict[str, Values]]:
    """The tables of a capture in one database of a carrier, at one revision.

    Columns are NumPy arrays, or Arrow arrays where they hold text or NULL: what
    :func:`ascend_ref.db.writer.write_database` takes. Tables without rows are left out, which the
    writer creates where every file has them. ``switched`` false writes all that the capture holds,
    also what no switch or no two switches together collect. ``for_texts`` adds what exporters show
    in text files alone: counters of products whose tasks have no numbers of their own (erratum P2).
    ``spill`` takes long columns, in place of memory. The capture is not changed, and equal captures
    give equal columns.
    """
    recording = Recording(capture, schema, for_texts=for_texts, spill=spill or InMemory())
    strings = StringIds(recording.texts)
    if schema.carrier == "analysis":
        return {
            name: _cells(recording, schema.tables[name], rows, strings)
            for name, rows in analysis_tables(recording).items()
            if collects(schema.tables[name], capture.switches)
        }
    found = {
        table.name: _table(recording, table, strings)
        for table in sorted(schema.tables.values(), key=_turn)
        if collects(table, capture.switches, switched=switched)
    }
    tables = {name: columns for name in schema.tables if (columns := found.get(name))}
    if "STRING_IDS" in schema.tables:
        tables["STRING_IDS"] = strings.columns()
    return tables


def _turn(table: Table) -> int:
    """When a table gives its texts their ids: tasks first, what further switches add last.

    So no switch moves an id in a table that another one controls.
    """
    if table.name == "TASK":
        return 0
    return 1 if ALWAYS_ON.issuperset(table.switches) else 2


def _table(recording: Recording, table: Table, strings: StringIds) -> dict[str, Values] | None:
    """The columns of one table; None without rows."""
    sources = SOURCES.get(table.name, [Source(lambda recording: _captured(recording, table))])
    parts = [(source.rows(recording), source.space) for source in sources]
    filled = [
        _cells(recording, table, rows, strings, space)
        for rows, space in parts
        if any(len(values) for values in rows.values())
    ]
    if not filled:
        return None
    return {name: _stacked([part[name] for part in filled]) for name in table.columns}


def _captured(recording: Recording, table: Table) -> Rows:
    """The rows of the entity as the capture holds it, or the samples of the table."""
    entity = recording_catalog().entities.get(_entity(table))
    batch = getattr(recording.capture, entity.capture or "", None) if entity else None
    return sampled(recording, table) if batch is None else recording.rows(batch)


def _entity(table: Table) -> str:
    """The entity of which a table shows most columns."""
    shown = Counter(one.partition(".")[0] for c in table.columns.values() for one in c.shows.of)
    return max(shown, key=shown.__getitem__, default="")


def _cells(
    recording: Recording, table: Table, rows: Rows, strings: StringIds, space: int = CANN
) -> dict[str, Values]:
    """The columns that the table has at this revision, in its order."""
    cells = Cells(recording, strings, _entity(table), space)
    count = len(next(iter(rows.values())))

    def parts(column: Column) -> Iterator[Values]:
        for batch in recording.spill.batches(count):
            yield cells.of(column, {name: values[batch] for name, values in rows.items()})

    return {
        name: spilled_column(recording.spill, parts(column))
        for name, column in table.columns.items()
    }


def _stacked(parts: Sequence[Values]) -> Values:
    if len(parts) == 1:
        return parts[0]
    return pa.concat_arrays([pa.array(part, pa.int64()) for part in parts])
