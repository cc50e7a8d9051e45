"""README.txt of mindstudio_profiler_output: which files there are, and what each is about."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ascend_spec import text_catalog, timeline_catalog

NUMBERED = re.compile(r"(_slice_\d+)?_\d+$")
"""What the names of files of one kind differ by."""
HEADINGS = {".json": "Timeline files:", ".csv": "Summary files:"}


def readme(files: Iterable[Path]) -> str:
    """A line for each kind of file with what it is about, timelines first (text-outputs.md 2.9)."""
    names: dict[str, dict[str, None]] = {suffix: {} for suffix in HEADINGS}
    for path in files:
        names[path.suffix].setdefault(NUMBERED.sub("", path.stem))
    about = {".json": _timelines(), ".csv": _sheets()}
    lines = []
    for suffix, heading in HEADINGS.items():
        found = sorted(names[suffix])
        lines += [heading] if found else []
        lines += [
            f"{number}.{name}{suffix}: {about[suffix][name]}"
            for number, name in enumerate(found, start=1)
        ]
    return "".join(f"{line}\n" for line in lines)


def _timelines() -> dict[str, str]:
    return {
        file.name.template.partition("_{")[0]: file.summary
        for file in timeline_catalog().files.values()
    }


def _sheets() -> dict[str, str]:
    return {
        file.modules["msprof"]: file.summary
        for file in text_catalog().csv.values()
        if "msprof" in file.modules
    }
