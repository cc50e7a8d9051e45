"""The text deliverables of a profile, where its exporters leave them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from ascend_ref import names
from ascend_ref.capture import Capture
from ascend_ref.documents import write_documents
from ascend_ref.recorded import from_captures
from ascend_ref.text import write_csv_files
from ascend_ref.timeline import write_timeline
from ascend_spec import layout_catalog, text_catalog, timeline_catalog

README = "README.txt"
NUMBERED = re.compile(r"(_slice_\d+)?_\d+$")
"""What the names of files of one kind differ by."""
HEADINGS = {".json": "Timeline files:", ".csv": "Summary files:"}


def write_pytorch_texts(output: Path, capture: Capture, revision: str) -> None:
    """CSV files, trace_view.json and the JSON documents of a rank, into ASCEND_PROFILER_OUTPUT."""
    recorded = from_captures([capture], "pytorch", revision)
    write_csv_files(recorded, output)
    write_timeline(recorded, output)
    write_documents(recorded, output)


def write_msprof_texts(prof: Path, capture: Capture, revision: str, forms: Collection[str]) -> None:
    """``csv`` and ``timeline`` of a process, into mindstudio_profiler_output with its README."""
    recorded = from_captures([capture], "msprof", revision)
    folder = prof / layout_catalog().folder("msprof", "output")
    folder.mkdir()
    timestamp = names.stamp(capture.origin.start)[:14]
    written = []
    if "timeline" in forms:
        written += write_timeline(recorded, folder, timestamp=timestamp)
    if "csv" in forms:
        written += write_csv_files(recorded, folder, timestamp=timestamp)
    (folder / README).write_text(readme(written), encoding="utf-8")


def readme(files: Iterable[Path]) -> str:
    """A line for each kind of file with what it is about, timelines first (text-outputs.md 2.9)."""
    names: dict[str, dict[str, None]] = {suffix: {} for suffix in HEADINGS}
    for path in files:
        names[path.suffix].setdefault(NUMBERED.sub("", path.stem))
    timelines, sheets = timeline_catalog().files.values(), text_catalog().in_folder("msprof")
    about = {
        ".json": {file.name.template.partition("_{")[0]: file.summary for file in timelines},
        ".csv": {file.modules["msprof"]: file.summary for file in sheets},
    }
    lines = []
    for suffix, heading in HEADINGS.items():
        found = sorted(names[suffix])
        lines += [heading] if found else []
        lines += [
            f"{number}.{name}{suffix}: {about[suffix][name]}"
            for number, name in enumerate(found, start=1)
        ]
    return "".join(f"{line}\n" for line in lines)
