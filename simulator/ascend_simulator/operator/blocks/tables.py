"""Block 0x09: the same traffic as tables, with what the pipes did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ascend_spec import bin_catalog
from ascend_spec.bin.model import MemoryTable
from ascend_spec.bin.sentinels import NOT_AVAILABLE

from ..chip import GIBI
from ..timing import SCALAR
from .numbers import share, six
from .view import Report, Unit

IDEAL = 0.8
"""Share of the ideal bandwidth while a pipe is active, below which there is advice."""

PIPE_AMOUNTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "cube": {
        "MTE1": ("L1_TO_L0A", "L1_TO_L0B"),
        "MTE2": ("GM_TO_L1",),
        "MTE3": ("L1_TO_GM",),
        "FIXP": ("L0C_TO_GM", "L0C_TO_L1", "FIXP_TO_UB"),
    },
    "vector": {"MTE2": ("GM_TO_UB",), "MTE3": ("UB_TO_GM", "UB_TO_L1")},
}
"""What a pipe moves, by kind of core; the bandwidth of the first is ideal for it."""
WITH_DETAIL = ("MTE1", "MTE2")
"""Pipes of the cube core whose volumes only an instrumented run shows (910B); 310P shows none."""


def memory_tables(report: Report) -> dict[str, Any]:
    """The payload of 0x09."""
    return {"table_per_block": [_block(report, at) for at in range(len(report.block_ids))]}


def _block(report: Report, block: int) -> dict[str, Any]:
    details = [_table(report, block, one) for one in report.memory_tables.values()]
    return {
        "advice": _advice(report, block),
        "block_id": report.block_ids[block],
        "table_op_type": report.op_type,
        "table_detail": details,
    }


def _table(report: Report, block: int, table: MemoryTable) -> dict[str, Any]:
    names = [*table.rows, *_optional(report, block, table)]
    rows = [{"name": name, "value": _cells(report, block, table, name)} for name in names]
    return {
        "table_name": table.name,
        "header_name": list(table.headers),
        "row": rows,
        "size": [len(rows), len(table.headers) - 1],
    }


def _cells(report: Report, block: int, table: MemoryTable, row: str) -> list[str]:
    unit = report.table_unit(block, table.name)
    if table.name == "Cache":
        return _cache(report, block, row)
    if table.name.startswith("Pipe"):
        return _pipe(report, unit, row, table)
    if table.name.startswith("Scalar"):
        cycles = _scalar(report, unit)[row.removeprefix("Scalar ")]
        return [str(cycles), six(cycles / report.world.frequency)]
    asked = report.memory_row(block, table.name, row)
    cells = [asked.request_text, asked.bandwidth]
    return [*cells, asked.peak] if "peak(%)" in table.headers else cells


def _cache(report: Report, block: int, row: str) -> list[str]:
    counters = report.counters
    if row.startswith("iCache"):
        misses = int(counters.amount("icache misses")[block].sum())
        hits = int(counters.amount("icache requests")[block].sum()) - misses
    elif row == "L2 Cache Total":
        hits, misses = report.cache(block)
    else:
        hits, misses = report.cache(block, row.rsplit(" ", 1)[-1].lower())
    return [str(hits), str(misses), str(hits + misses), six(share(hits, hits + misses))]


def _pipe(report: Report, unit: Unit, row: str, table: MemoryTable) -> list[str]:
    scalar = row == "Scalar"
    instructions = 0 if scalar else int(report.counters.pipe(row).instructions[unit.place])
    cycles = _scalar_cycles(report, unit) if scalar else report.busy(unit, row)
    active = active_bandwidth(report, unit, row)
    hidden = report.family == "310P" or (
        report.family == "910B"
        and "cube" in unit.cores
        and row in WITH_DETAIL
        and not report.memory_detail
    )
    cells = [
        *map(str, (instructions, cycles, report.waits(unit, SCALAR if scalar else row))),
        six(share(cycles, report.cycles(unit))),
        NOT_AVAILABLE if hidden or active is None else six(active),
    ]
    return cells[: len(table.headers) - 1]


def active_bandwidth(report: Report, unit: Unit, pipe: str) -> float | None:
    """2^30 Byte/s while a pipe works; None where it does not."""
    cycles = report.busy(unit, pipe)
    names = {name for core in unit.cores for name in PIPE_AMOUNTS[core].get(pipe, ())}
    if not cycles or not names:
        return None
    size = sum(report.amount(unit, name) for name in names)
    return size * report.world.frequency * 1e6 / cycles / GIBI


def _scalar_cycles(report: Report, unit: Unit) -> int:
    return int(report.counters.scalar_cycles[unit.place])


def _scalar(report: Report, unit: Unit) -> dict[str, int]:
    """Cycles of the scalar unit, by what it did or waited for."""
    counters = report.counters
    stalls = {
        f"{pipe.capitalize()} Stall": int(counters.pipe(pipe).stall[unit.place])
        for pipe in ("MTE1", "MTE2", "MTE3", "CUBE", "VECTOR")
    }
    known = {
        "Time": _scalar_cycles(report, unit),
        "Single": report.amount(unit, "executed"),
        "Dual": 0,
        "WAIT IB": int(counters.fetch_cycles[unit.place]),
        "Wait": report.waits(unit, SCALAR),
        "Ub Stall": 0,
    }
    internuclear = {
        f"Internuclear ID{number}": int(values[unit.place])
        for number, values in counters.internuclear.items()
    }
    return {**stalls, **known, **internuclear}


def _optional(report: Report, block: int, table: MemoryTable) -> list[str]:
    if not table.optional_rows:
        return []
    known = _scalar(report, report.table_unit(block, table.name))
    return [name for name in table.optional_rows if known.get(name.removeprefix("Scalar "))]


def _advice(report: Report, block: int) -> list[str]:
    """The pipes that move much less than they could while they work."""
    texts = [str(one.value) for one in bin_catalog().enums["table_advice"].members]
    found = []
    for unit in report.units(block):
        moves = {pipe: names for core in unit.cores for pipe, names in PIPE_AMOUNTS[core].items()}
        for pipe in sorted(moves.keys() - {"FIXP"}):
            active = active_bandwidth(report, unit, pipe)
            limit = report.world.chip.transfer.get(moves[pipe][0])
            if active is None or limit is None or active / limit >= IDEAL:
                continue
            kind = "aicore " if unit.number is None else "aivector "
            text = f"{kind if report.mixed else ''}{pipe} bandwidth utilization lower than 80%"
            found.append(next(one for one in texts if one.startswith(text)))
    return found
