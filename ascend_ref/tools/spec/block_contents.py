"""What blocks of ``visualize_data.bin`` hold for each chip and kind of operator, as Markdown.

All of it is of the newest epoch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import get_args

from ascend_ref.markdown import Style, code, commas, table
from ascend_spec import bin_catalog
from ascend_spec.bin.kernel import Core
from ascend_spec.bin.model import Column, Writer

RUNS: Mapping[Writer, str] = {"device": "runs on a device", "simulator": "runs of the simulator"}


def contents(block: int, style: Style) -> Iterator[str]:
    """The sections on what a block holds; none for one that holds the same everywhere."""
    if block in bin_catalog().columns:
        yield "## Columns by kind of run"
        yield _columns(bin_catalog().columns[block], style)
    elif block in (0x06, 0x07):
        yield "## Entries of each sub-block, in their order"
        indexed = sorted(set(_indexed(block)))
        if indexed:
            names = ", ".join(map(code, indexed))
            yield f"In a mix operator's block the number of the vector core, 0 or 1, ends {names}."
        yield table(("chip", "core", "unit", "entries"), _loads(block))
    elif block == 0x08:
        yield "## Paths by chip and kind of operator"
        yield (
            "The bandwidth of a path is requests times bytes over the duration, in 2^30 Byte/s. "
            "A row of 0x09 repeats requests and bandwidth of its path."
        )
        yield table(("chip", "op_type", "path", "name", "Byte of a request", "in 0x09"), _paths())
    elif block == 0x09:
        yield "## Tables by chip and kind of operator"
        yield table(("chip", "op_type", "table", "headers", "rows"), _tables())
    elif block == 0x0D:
        yield "## Charts by chip and kind of operator"
        yield "A line whose memory moved no data is left out, and so is a chart without lines."
        yield table(("chip", "op_type", "chart", "lines"), _charts())
        yield table(("chip", "chart", "Byte per cycle of a core"), _widths())
        yield table(("chip", "core", "names of the compute power"), _powers())


def _newest() -> str:
    return bin_catalog().epochs[-1].id


def _chips() -> Iterator[str]:
    return (str(one.value) for one in bin_catalog().enums["chips"].members)


def _operators() -> Iterator[tuple[str, str]]:
    """Every chip with every kind of operator that has it."""
    kinds = (str(one.value) for one in bin_catalog().enums["op_types"].members)
    for chip, kind in product(_chips(), kinds):
        if bin_catalog().memory.path_set(chip, kind, _newest()):
            yield chip, kind


def _columns(columns: Mapping[str, Column], style: Style) -> str:
    rows = (
        (
            code(name),
            str(one.dtype),
            *(_in_run(one, run) for run in RUNS),
            commas(one.chips),
            style.prose(one.when or ""),
        )
        for name, one in columns.items()
    )
    return table(("column", "dtype", *RUNS.values(), "chips", "when"), rows)


def _in_run(column: Column, run: Writer) -> str:
    """Whether a kind of run writes one value or one per core, and when it declares the column."""
    if run not in column.shape:
        return ""
    declared = column.declared.get(run)
    return f"{column.shape[run]}; declared: {declared}" if declared else str(column.shape[run])


def _loads(block: int) -> Iterator[tuple[str, ...]]:
    for chip, core in product(_chips(), get_args(Core)):
        entries = bin_catalog().loads.entries(block, chip, core, _newest())
        for unit in dict.fromkeys((one.unit, one.optional) for one in entries):
            names = (code(one.name) for one in entries if (one.unit, one.optional) == unit)
            unless = " where not 0" if unit[1] else ""
            yield chip, core, str(unit[0]), f"{', '.join(names)}{unless}"


def _indexed(block: int) -> Iterator[str]:
    """Names that end in the number of a vector core in the block of a mix operator."""
    for chip, core in product(_chips(), get_args(Core)):
        loads = bin_catalog().loads
        plain, first = (loads.entries(block, chip, core, _newest(), one) for one in (None, 0))
        yield from (one.name for one, other in zip(plain, first, strict=True) if one != other)


def _paths() -> Iterator[tuple[str, ...]]:
    memory = bin_catalog().memory
    names = {one.value: one.name for one in bin_catalog().enums["memory_paths"].members}
    for chip, kind in _operators():
        found = memory.path_set(chip, kind, _newest())
        extra = (
            {path: when for when, paths in found.extra.items() for path in paths} if found else {}
        )
        for path in (*found.paths, *extra) if found else ():
            size = memory.request_bytes(chip, path, _newest())
            home, number = found.rows.get(path, ("", 0)) if found else ("", 0)
            row = memory.tables(chip, kind, _newest())[home].rows[number] if home else ""
            where = f"{home}: {row}" if home else ""
            shown = f"{path} (with {extra[path]})" if path in extra else str(path)
            yield chip, kind, shown, str(names.get(path, "")), str(size or ""), where


def _tables() -> Iterator[tuple[str, ...]]:
    for chip, kind in _operators():
        for name, one in bin_catalog().memory.tables(chip, kind, _newest()).items():
            rows = commas(one.rows) + (
                f"; where not 0: {commas(one.optional_rows)}" if one.optional_rows else ""
            )
            yield chip, kind, code(name), commas(one.headers[1:]), rows


def _charts() -> Iterator[tuple[str, ...]]:
    for chip, kind in _operators():
        for chart in bin_catalog().rooflines.charts(chip, kind, _newest()):
            yield chip, kind, code(chart.title), commas(chart.bandwidths)


def _widths() -> Iterator[tuple[str, ...]]:
    for chip, kind in _operators():
        for chart in bin_catalog().rooflines.charts(chip, kind, _newest()):
            widths = bin_catalog().rooflines.widths(chip, chart.title)
            if widths and kind != "mix":
                yield (
                    chip,
                    code(chart.title),
                    commas(f"{line} {size}" for line, size in widths.items()),
                )


def _powers() -> Iterator[tuple[str, ...]]:
    for chip, core in product(_chips(), get_args(Core)):
        names = bin_catalog().rooflines.computilities(chip, core, _newest())
        if names:
            yield chip, core, ", ".join(map(code, names))
