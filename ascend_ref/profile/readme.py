"""README.txt of msprof: which kinds of files an export wrote (text-outputs.md 2.9)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ascend_spec import layout_catalog, text_catalog, timeline_catalog

README = "README.txt"
NUMBERED = re.compile(r"(_slice_\d+)?_\d+$")
"""What the names of files of one kind differ by."""
HEADINGS = {".json": "Timeline files:", ".csv": "Summary files:"}
LINE = re.compile(r"\s*\d+\.\s*(\w+\.(?:json|csv))\s*:")
LONGEST = 1 << 16
"""Characters that are read; a list of every kind has 5,000."""


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


class Listed(NamedTuple):
    """A kind of file that a README.txt names: its line, from 1, and what the spec calls it."""

    line: int
    name: str
    kind: str
    called: str


def read_readme(folder: Path) -> list[Listed]:
    """The kinds of files that the README.txt of a folder names, of those that the spec has.

    None where it has no such file, or none that can be read.
    """
    path = folder / README
    try:
        if not path.is_file():
            return []
        with path.open(encoding="utf-8", errors="replace") as file:
            lines = file.read(LONGEST).splitlines()
    except OSError:
        return []
    named = ((number, LINE.match(line)) for number, line in enumerate(lines, start=1))
    matches = ((number, one[1], layout_catalog().match(one[1])) for number, one in named if one)
    return [
        Listed(number, name, match.file.kind, match.called)
        for number, name, match in matches
        if match and match.file.kind in ("csv", "timeline")
    ]
