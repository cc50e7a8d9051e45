"""Working copies of the packaged spec: its documents in a folder, to be changed at will."""

from __future__ import annotations

import shutil
from pathlib import Path

from ascend_spec import packaged


def copy_spec(folder: Path) -> Path:
    """The documents of the packaged spec, copied into a new folder."""
    code = shutil.ignore_patterns("*.py", "__pycache__")
    return Path(shutil.copytree(packaged().folder.root, folder, ignore=code))


def add_line(document: Path, line: str, after: str) -> None:
    """Puts a line of YAML behind the first one that begins with ``after``."""
    lines = document.read_text("utf-8").splitlines(keepends=True)
    place = next(number for number, text in enumerate(lines) if text.startswith(after))
    lines.insert(place + 1, line + "\n")
    document.write_text("".join(lines), "utf-8")


def add_revision(spec: Path, version: str, day: str) -> None:
    """Adds a revision of the schema behind the others."""
    with (spec / "db" / "revisions.yaml").open("a", encoding="utf-8") as revisions:
        revisions.write(
            f"\n- {{id: {version}-draft, schema_version: {version}, date: '{day}', "
            "grade: inferred, summary: A draft.}\n"
        )


def add_column(spec: Path, table: str, line: str, revision: tuple[str, str]) -> None:
    """Adds a column (a line of YAML) to a table document, and a revision (version, day)."""
    add_line(spec / "db" / "tables" / table, f"  {line}", "columns:")
    add_revision(spec, *revision)
