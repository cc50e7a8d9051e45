"""Files and layers of another time, or of another device, than those around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ascend_spec import per_spec, text_catalog

from ...compare.sql import quoted
from ...report.phrases import duration
from .findings import NOWHERE, Fault, place_of_event
from .folder import Folder

TIME = "timestampUs"
"""The type of columns of instants in CSV files."""
FAR_NS = 3600 * 10**9
"""The time between two files of one capture from which on one of them is of another clock. Only
captures of hours have such gaps, and these have samples in between."""
NO_INSTANT = "T90"
"""The erratum of columns that show a length of time as an instant since boot."""
DEVICES = frozenset({"file", "device", "events", "device_id", "device type", "component"})
"""Columns of any table that :func:`parts_of_another_device` looks at, in lower case."""
INSTANTS = frozenset({"file", "ts", "pid", "name", "start_us", "pointer", "value"})
"""Columns of documents and timelines that :func:`parts_of_another_time` looks at."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Part(Generic[T]):
    """A file, or a layer of one, with what it shows: rows, the first of them, and ``shown``."""

    file: int
    name: str
    column: str
    rows: int
    shown: T
    row: int | None = None


Span = tuple[int, int]


@per_spec
def columns_of_times() -> frozenset[str]:
    """Columns of any table that :func:`parts_of_another_time` looks at, in lower case."""
    files = text_catalog().csv.values()
    return INSTANTS.union(
        column.name.casefold() for file in files for column in file.columns if column.type == TIME
    )


def parts_of_another_time(folder: Folder, _examples: int) -> Iterator[Fault]:
    """Files and layers whose times are hours away from those of most others."""
    spans = [*_of_csv(folder), *_of_layers(folder), *_of_documents(folder)]
    for odd, usual in _minorities(spans, _is_near):
        gap = max(
            min(one.shown[0] for one in usual) - odd.shown[1],
            odd.shown[0] - max(one.shown[1] for one in usual),
        )
        words = "before" if odd.shown[1] < usual[0].shown[0] else "after"
        named = f"{odd.name} is {duration(abs(gap))} {words} {usual[0].name}"
        yield _fault(folder, odd, named)


def parts_of_another_device(folder: Folder, _examples: int) -> Iterator[Fault]:
    """Files that name other devices than most others."""
    for odd, usual in _minorities([*_devices(folder)], lambda one, other: bool(one & other)):
        own, others = (", ".join(map(str, sorted(one.shown))) for one in (odd, usual[0]))
        yield _fault(folder, odd, f"device {own} in {odd.name}, {others} in {usual[0].name}")


def _fault(folder: Folder, part: Part[T], remark: str) -> Fault:
    at = NOWHERE if part.row is None else place_of_event(folder, part.file, part.row)
    return Fault(part.file, part.column, part.rows, part.rows, row=part.row, at=at, remark=remark)


def _minorities(
    parts: Sequence[Part[T]], is_alike: Callable[[T, T], bool]
) -> Iterator[tuple[Part[T], Sequence[Part[T]]]]:
    """The parts that are not connected with most others, each with those, largest first."""
    groups: list[list[Part[T]]] = []
    for part in parts:
        joined = [
            group for group in groups if any(is_alike(part.shown, one.shown) for one in group)
        ]
        groups = [group for group in groups if group not in joined]
        groups.append([one for group in joined for one in group] + [part])
    groups.sort(key=lambda group: (-len(group), -sum(one.rows for one in group)))
    for group in groups[1:]:
        usual = sorted(groups[0], key=lambda one: -one.rows)
        yield from ((one, usual) for one in group)


def _is_near(one: Span, other: Span) -> bool:
    return one[0] - other[1] <= FAR_NS and other[0] - one[1] <= FAR_NS


def _of_csv(folder: Folder) -> Iterator[Part[Span]]:
    """CSV files by their first column of times in which any stand."""
    for name in sorted(folder.csv_writers):
        here = folder.facts.columns(f"csv.{name}")
        writer = text_catalog().writers[folder.csv_writers[name]]
        for column in text_catalog().csv[name].columns:
            if (
                column.type != TIME
                or column.name not in here
                or not column.when.admits(writer)
                or column.shows.reason == "derived"
                or NO_INSTANT in column.errata
            ):
                continue
            cell = quoted(column.name)
            found = folder.facts.rows(
                f"SELECT file, count(*), min({cell}), max({cell}) FROM csv.{name} "
                f"WHERE {cell} > 0 GROUP BY file ORDER BY file"
            )
            for file, rows, first, last in found:
                yield Part(file, folder.files[file].place, column.name, rows, (first, last))
            if found:
                break


def _of_layers(folder: Folder) -> Iterator[Part[Span]]:
    """Layers of instants; those of single cores count their samples from 0 on."""
    found = folder.facts.rows(
        "SELECT e.file, p.name, sum(rows), min(first), max(last), min(row) FROM "
        "(SELECT file, pid, count(*) AS rows, min(ts) AS first, max(ts) AS last, min(row) AS row "
        "FROM trace.event WHERE ts > 0 GROUP BY file, pid) e "
        "JOIN (SELECT file, pid, any_value(name) AS name FROM trace.process GROUP BY file, pid) p "
        "ON p.file = e.file AND p.pid = e.pid WHERE p.name IS NOT NULL "
        f"GROUP BY e.file, p.name HAVING max(last) > {FAR_NS} ORDER BY e.file, p.name"
    )
    for file, name, rows, first, last, row in found:
        where = f"the layer {name} of {folder.files[file].place}"
        yield Part(file, where, "ts", rows, (first, last), row)


def _of_documents(folder: Folder) -> Iterator[Part[Span]]:
    found = folder.facts.rows(
        "SELECT file, 'Start Timestamp(us)', count(*), min(start_us * 1000), max(start_us * 1000) "
        "FROM doc.operator WHERE start_us > 0 AND isfinite(start_us * 1000) GROUP BY file "
        "UNION ALL "
        "SELECT file, 'collectionTimeEnd', 1, TRY_CAST(value AS BIGINT), TRY_CAST(value AS BIGINT) "
        "FROM doc.member WHERE pointer = '/end_info/collectionTimeEnd' "
        "AND TRY_CAST(value AS BIGINT) > 0 ORDER BY ALL"
    )
    for file, column, rows, first, last in found:
        yield Part(file, folder.files[file].place, column, rows, (int(first), int(last)))


def _devices(folder: Folder) -> Iterator[Part[frozenset[int]]]:
    """The devices of files. Of the framework's own memory the number counts only those that the
    process sees, and is left out.
    """
    queries = ["SELECT file, 'pid' AS shown, device, events AS rows FROM trace.process"]
    for table, columns in sorted(folder.facts.tables().items()):
        if not table.startswith("raw."):
            continue
        if "Device_id" in columns:
            queries.append(
                f"SELECT file, 'Device_id', TRY_CAST(\"Device_id\" AS INTEGER), 1 FROM {table}"
            )
        elif "Device" in columns:
            queries.append(
                f"SELECT file, 'Device', TRY_CAST(substr(\"Device\", 5) AS INTEGER), 1 FROM {table}"
            )
        elif {"Device Type", "Component"} <= columns:
            queries.append(
                f"SELECT file, 'Device Type', TRY_CAST(substr(\"Device Type\", 5) AS INTEGER), 1 "
                f"FROM {table} WHERE \"Component\" = 'APP'"
            )
    found = folder.facts.rows(
        f"SELECT file, shown, list(DISTINCT device ORDER BY device), sum(rows) "
        f"FROM ({' UNION ALL '.join(queries)}) WHERE device >= 0 GROUP BY file, shown ORDER BY ALL"
    )
    for file, column, devices, rows in found:
        yield Part(file, folder.files[file].place, column, rows, frozenset(devices))
