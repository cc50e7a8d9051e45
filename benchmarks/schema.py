"""Speed of ``diff spec``: processes, against one that only loads the same documents with PyYAML.

    python benchmarks/schema.py

The second spec is a copy: with another value type, on which databases, CSV files, timelines and the
analysis of all ranks rest; or with a document changed in every family.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from lines import Line, processor_seconds, show

from ascend_ref.states import FAMILIES
from ascend_ref.states.families import TYPES
from ascend_spec import packaged

SHARE = 1.2
"""Of the time in which PyYAML's parser in C loads both specs, at most, for a value type."""
SHARE_OF_ALL = 2.4
"""The same for a document in every family."""
SECONDS = 1.0
"""For two revisions, at most."""
REPEATS = 3

LOADS = """
import sys, yaml
from pathlib import Path
for folder in sys.argv[1:]:
    for path in sorted(Path(folder).rglob("*.yaml")):
        yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)
"""


def another_spec(folder: Path) -> Path:
    """A copy of the packaged documents with a value type of another range, which all may have."""
    code = shutil.ignore_patterns("*.py", "__pycache__")
    copy = Path(shutil.copytree(packaged().folder.root, folder / "spec", ignore=code))
    types = copy / TYPES
    text = types.read_text("utf-8")
    assert "maximum: 100," in text
    types.write_text(text.replace("maximum: 100,", "maximum: 101,", 1), "utf-8")
    return copy


def change_every_family(spec: Path) -> None:
    """A comment in a document of each family: all is read, and nothing differs."""
    for family in FAMILIES.values():
        place = spec / family.documents[0]
        document = place if place.is_file() else min(place.rglob("*.yaml"))
        with document.open("a", encoding="utf-8") as file:
            file.write("# Read again.\n")


def seconds(*command: str) -> float:
    """Of processors, the least of several runs."""
    return min(processor_seconds(command) for _ in range(REPEATS))


def main() -> None:
    """Print the figures."""
    diff = [sys.executable, "-m", "ascend_ref", "diff", "spec", "--fail-on", "never"]
    with tempfile.TemporaryDirectory() as folder:
        specs = str(packaged().folder.root), str(another_spec(Path(folder)))
        loads = seconds(sys.executable, "-c", LOADS, *specs)
        some = seconds(*diff, *specs)
        change_every_family(Path(specs[1]))
        every = seconds(*diff, *specs)
    pair = seconds(*diff, "1.2.0-2025-12", "1.2.0-2026-07")
    theirs = f"{loads:.2f} s of PyYAML's CSafeLoader for all documents of both"
    lines = [Line("diff spec, two revisions", pair, SECONDS, "s", True, "processor time")]
    for what, ours, share in (("value type", some, SHARE), ("every family", every, SHARE_OF_ALL)):
        against = f"{ours:.2f} s against {theirs}"
        lines.append(Line(f"diff spec, {what} changed", ours / loads, share, "x", True, against))
    show(lines)


if __name__ == "__main__":
    main()
