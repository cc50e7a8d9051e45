"""Folders of text deliverables to judge: the real ones, and copies of them that were changed."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ascend_conformance.check import check
from ascend_conformance.finding import FileReport, Finding
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "text"
RANK = DATA / "pytorch_level1_rank0"
LEGACY = DATA / "mindspore_legacy"
OUTPUT = "ASCEND_PROFILER_OUTPUT"

STRUCTURE = Options(selection=Selection(select=("CSV0", "TRC0", "DOC0")), workers=1)
"""The rules that follow from the spec."""

Table = list[list[str]]


def needs_data(path: Path = RANK) -> Path:
    """Real files, or a skip where the shared folder is absent."""
    if not path.exists():
        pytest.skip(f"needs the real files of {path}")
    return path


def copied(folder: Path, *names: str) -> Path:
    """A copy of some files of the real rank in a folder like theirs; of all without names."""
    needs_data()
    target = folder / OUTPUT
    target.mkdir(parents=True)
    for path in sorted((RANK / OUTPUT).iterdir()):
        if not names or path.name in names:
            shutil.copyfile(path, target / path.name)
    return target


def changed(folder: Path, name: str, change: Callable[[Table], None]) -> Path:
    """A copy of one real CSV file alone, whose table was changed."""
    return rewritten(copied(folder, name) / name, change)


def rewritten(path: Path, change: Callable[[Table], None]) -> Path:
    """A CSV file whose table was changed in place."""
    with path.open(newline="", encoding="utf-8") as file:
        table = list(csv.reader(file))
    change(table)
    text = io.StringIO(newline="")
    csv.writer(text).writerows(table)
    path.write_bytes(text.getvalue().encode())
    return path


def structural(path: Path) -> list[Finding]:
    """What the structural rules find, but for the advice that the real file gets as well."""
    (report,) = judged(path, STRUCTURE)
    return [one for one in report.findings if not (one.rule == "CSV022" or one.rule == "TRC007")]


def judged(path: Path, options: Options | None = None) -> tuple[FileReport, ...]:
    return check([path], options or Options(workers=1)).files
