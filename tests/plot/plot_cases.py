"""Small deliverables written by hand, and the texts of a picture."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
ORIGIN = 1_767_258_000_150_000_000
"""Unix ns at which the small recordings begin."""
HEADER = "Device_id,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)"


class Run(NamedTuple):
    """A row of op_summary. start, length: ns, from ORIGIN on. stream: None of an operator that
    communicates.
    """

    kind: str
    start: int
    length: int
    name: str = "Add"
    stream: int | None = 2
    device: int = 0


def real(name: str) -> Path:
    """A real file or folder; skips the test where it is not there."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"needs the real profiles of {DATA}")
    return path


def microseconds(time: int) -> str:
    """Ns as the exporters write them."""
    return f"{time // 1000}.{time % 1000:03}"


def write_summary(path: Path, runs: Iterable[Run]) -> Path:
    """An op_summary of these rows."""
    with path.open("w", encoding="utf-8", newline="") as file:
        sheet = csv.writer(file)
        sheet.writerow(HEADER.split(","))
        for run in runs:
            stream = "N/A" if run.stream is None else run.stream
            start = microseconds(ORIGIN + run.start) + "\t"
            name = (run.name, run.name)
            sheet.writerow([run.device, stream, *name, run.kind, start, microseconds(run.length)])
    return path


def process(number: int, name: str, label: str, threads: Sequence[tuple[int, str]]) -> list[Any]:
    """The events that name a process of a timeline and its threads."""

    def told(kind: str, thread: int, arguments: dict[str, str]) -> dict[str, Any]:
        return {"name": kind, "pid": number, "tid": thread, "ph": "M", "args": arguments}

    return [
        told("process_name", 0, {"name": name}),
        told("process_labels", 0, {"labels": label}),
        *(told("thread_name", thread, {"name": text}) for thread, text in threads),
    ]


def event(process_: int, thread: int, name: str, start: int, length: int, **more: Any) -> Any:
    """A slice of a timeline; times in ns, from ORIGIN on."""
    times = {"ts": microseconds(ORIGIN + start), "dur": length / 1000}
    return {"name": name, "pid": process_, "tid": thread, **times, "ph": "X", **more}


def write_timeline(path: Path, events: Sequence[Any]) -> Path:
    """A timeline of these events."""
    path.write_text(json.dumps(list(events)), encoding="utf-8")
    return path


def words(path: Path) -> list[str]:
    """The texts of an SVG, in the order of drawing."""
    texts = ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")  # noqa: S314 ours
    return ["".join(text.itertext()) for text in texts]
