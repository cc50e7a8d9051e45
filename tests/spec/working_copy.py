"""Working copies of the packaged spec: its documents in a folder, to be changed at will."""

from __future__ import annotations

import shutil
from pathlib import Path

from ascend_spec import packaged


def copy_spec(folder: Path) -> Path:
    """The documents of the packaged spec, copied into a new folder."""
    code = shutil.ignore_patterns("*.py", "__pycache__")
    return Path(shutil.copytree(packaged().folder.root, folder, ignore=code))


def add_column(spec: Path, table: str, line: str, revision: tuple[str, str]) -> None:
    """Adds a column (a line of YAML) to a table document, and a revision (version, day)."""
    document = spec / "db" / "tables" / table
    text = document.read_text("utf-8")
    document.write_text(text.replace("columns:\n", f"columns:\n  {line}\n", 1), "utf-8")
    version, day = revision
    with (spec / "db" / "revisions.yaml").open("a", encoding="utf-8") as revisions:
        revisions.write(
            f"\n- {{id: {version}-draft, schema_version: {version}, date: '{day}', "
            "grade: inferred, summary: A draft.}\n"
        )
