"""What operators that fetch data waited for, and queues of the data pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ascend_ref.raw.damage import few
from ascend_spec import mindspore_catalog

from ..raw.lines import read_slices
from ..raw.strings import read_strings
from .documents import Malformed, read_document
from .drawn import drawn
from .run import Run

FETCHES = "minddata_aicpu"
"""Both the raw file and what is made of it."""

PARTS = ("name", "start", "end", "size")
"""Of a fetch, in the order of the columns."""

COPIED = {
    "device_queue": "device_queue_profiling",
    "dataset_iterator": "dataset_iterator_profiling",
    "gpu_getnext": "minddata_getnext_profiling",
}
"""Raw files that analysers read, by the intermediate file that they are."""

MOST = 1 << 63


def write_fetches(run: Run) -> None:
    """Write ``minddata_aicpu``, where there is a fetch."""
    rows = list(_fetches(run))
    path = run.path(FETCHES) if rows else None
    if path is None:
        return
    if run.way("tables_for_reading") == "drawn":
        lines = drawn([one.name for one in run.columns(FETCHES)], rows)
    else:
        lines = [" ".join(map(str, row)) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


UTILIZATION = "minddata_cpu_utilization"
"""Both the raw file and the intermediate file that it is."""


def write_utilization(run: Run) -> None:
    """Copy how busy the processors were, where that is a document."""
    slices = run.slices(UTILIZATION)
    if slices is None or not run.reads(UTILIZATION):
        return
    source = slices[0].path
    content = read_document(source, _object, run.damage)
    path = None if content is None else run.path(UTILIZATION)
    if path is not None:
        path.write_bytes(source.read_bytes())


def write_queues(run: Run) -> None:
    """Write the lines of raw files that are intermediate files as they are."""
    for kind, table in COPIED.items():
        slices = run.slices(kind)
        path = None if slices is None or not run.reads(kind) else run.path(table)
        if slices is None or path is None:
            continue
        grammar = mindspore_catalog().grammars[mindspore_catalog().files[kind].grammar or kind]
        with path.open("w", encoding="utf-8", newline="") as file:
            for line in read_slices(slices, kind, run.damage):
                file.write(f"{grammar.lines[line.line].write(**line.parts)}\n")


def _object(value: Any) -> Any:
    if not isinstance(value, dict):
        raise Malformed("no object")
    return value


def _fetches(run: Run) -> Iterator[list[str | int | float]]:
    slices = run.slices(FETCHES)
    if slices is None or not run.reads(FETCHES):
        return
    with few(run.damage) as stated:
        for one in read_strings(slices, FETCHES, run.damage):
            if one.line is None:
                continue
            name, *numbers = (one.parts[part] for part in PARTS)
            values = list(map(int, numbers))
            if max(values) >= MOST:
                stated.append(one.damaged("a number of 2^63 or more"))
            else:
                yield [name, *values]
