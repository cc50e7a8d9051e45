"""What was recognised in a folder of text deliverables."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from ascend_spec import text_catalog, timeline_catalog

from ...finding import TEXT, Coverage, Seen
from ...report.phrases import counted
from .deliverables import COMPANIONS
from .folder import Folder
from .reasons import reasons


def make_seen(folder: Folder) -> Seen:
    """Writers, product, level, ranks, devices, time, and each file in words."""
    start, end = _span(folder)
    level, metrics, family = folder.level, folder.known("metrics"), folder.known("family")
    return Seen(
        carrier=TEXT,
        schema_version=None,
        revision=", ".join(sorted(set(folder.writers.values()))),
        product=None if family is None else str(family),
        level=None if level is None else f"{level}{f', {metrics}' if metrics else ''}",
        ranks=ranks_of(folder),
        devices=tuple(sorted(set(chain.from_iterable(devices_by_file(folder).values())))),
        start_ns=start,
        end_ns=end,
        rows=_rows(folder),
        coverage=_coverage(folder),
        reasons=reasons(folder),
        events=_events(folder),
        files={file.path.name: _words(folder, number) for number, file in folder.files.items()},
    )


def _rows(folder: Folder) -> dict[str, int]:
    rows = folder.facts.rows("SELECT path, rows FROM unit.file WHERE rows IS NOT NULL")
    return {name.rpartition("/")[2]: count for name, count in rows}


def _events(folder: Folder) -> dict[str, int]:
    of_kind = "SELECT file, shape, kind, events FROM trace.{0} WHERE kind IS NOT NULL"
    found = folder.facts.rows(
        "SELECT s.layer || '/' || k.kind, sum(k.events)::BIGINT "
        f"FROM ({of_kind.format('shape')} UNION ALL {of_kind.format('named')}) k "
        "JOIN trace.shape s USING (file, shape) WHERE s.layer IS NOT NULL GROUP BY 1 ORDER BY 1"
    )
    return dict(found)


def _words(folder: Folder, number: int) -> str:
    parts = [folder.writers.get(number, "unknown writer")]
    if number in folder.csv:
        rows, found = folder.csv[number]
        groups = {at.metrics for at in found.circumstances}
        group = groups.pop() if len(groups) == 1 else None
        end = "CRLF" if rows.returns > rows.line_feeds else "LF"
        parts += [group] if group else []
        columns = counted(len(rows.header), "column")
        parts += [f"{counted(rows.count, 'row')} of {columns}", end]
        if not found.exact:
            parts.append("a header that no writer prints")
    elif number in folder.timelines:
        elements = folder.timelines[number]
        reading = folder.readings[number]
        form = timeline_catalog().form(reading.writer)
        kind = "texts" if "string" in form.types["ts"] else "numbers"
        shape = "an object" if elements.in_object else "an array"
        layers = counted(len(reading.layers), "layer")
        parts += [f"{counted(elements.count, 'event')} of {layers} in {shape}"]
        parts += [f"times as {kind}"]
    return ", ".join(parts)


def ranks_of(folder: Folder) -> tuple[int, ...]:
    """The ranks that profiler_info states."""
    found = folder.facts.rows(
        "SELECT DISTINCT TRY_CAST(value AS BIGINT) FROM doc.member"
        " WHERE pointer IN ('/rank_id', '/ms_profiler_info/rank_id')"
    )
    return tuple(sorted(rank for (rank,) in found if rank is not None and rank >= 0))


def devices_by_file(folder: Folder) -> Mapping[int, tuple[int, ...]]:
    """The devices that each file names, by its number; the first 1,000 of all."""
    queries = ["SELECT file, device FROM trace.process WHERE device IS NOT NULL"]
    for table, columns in sorted(folder.facts.tables().items()):
        if table.startswith("raw.") and "Device_id" in columns:
            queries.append(
                f'SELECT file, TRY_CAST("Device_id" AS INTEGER) AS device FROM {table} '
                "WHERE \"Device_id\" <> 'host'"
            )
    union = " UNION ".join(queries)
    found = folder.facts.rows(
        f"SELECT DISTINCT file, device FROM ({union}) WHERE device >= 0 ORDER BY 2, 1 LIMIT 1000"
    )
    devices: dict[int, list[int]] = {}
    for file, device in found:
        devices.setdefault(file, []).append(device)
    return {file: tuple(every) for file, every in devices.items()}


def _span(folder: Folder) -> tuple[int | None, int | None]:
    """From the first to the last instant of the timeline, else of the CSV files."""
    start, end = folder.facts.rows(
        "SELECT min(ts), max(ts + CAST(round(least(coalesce(dur, 0), 1e15) * 1000) AS BIGINT)) "
        "FROM trace.event WHERE ts BETWEEN 0 AND 4102444800000000000"
    )[0]
    if start is not None:
        return start, end
    columns = [
        (name, column.name)
        for name in sorted(folder.csv_writers)
        for column in text_catalog().csv[name].columns
        if column.type == "timestampUs" and column.name in folder.facts.columns(f"csv.{name}")
    ]
    times = [
        f'SELECT "{column}" AS ns FROM csv.{name} WHERE "{column}" > 0' for name, column in columns
    ]
    if not times:
        return None, None
    start, end = folder.facts.rows(f"SELECT min(ns), max(ns) FROM ({' UNION ALL '.join(times)})")[0]
    return start, end


def _coverage(folder: Folder) -> Coverage:
    """Deliverables that are here, of those that the output folder can hold."""
    here = {file.place for file in folder.files.values() if file.name not in COMPANIONS}
    if folder.output is None:
        return Coverage(len(here), len(here))
    output = folder.output
    can = {f"{file.modules[output]}.csv" for file in text_catalog().in_folder(output)}
    return Coverage(len(here), len(can | here))
