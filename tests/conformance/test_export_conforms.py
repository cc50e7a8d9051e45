"""What is exported from a database passes the check, alone and next to the database."""

from __future__ import annotations

import csv
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from profiles import real

from ascend_conformance.check import check
from ascend_conformance.finding import Report
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection
from ascend_ref.profile.export import export_database
from ascend_simulator import write_run
from ascend_simulator.scenario import override, preset
from ascend_spec import text_catalog

REAL = {
    "level0_rank0": "level0_rank0",
    "level1_rank0": "level1_rank0",
    "level1_rank1": "level1_rank1",
    "910a_2024": "../generations/db_910a_2024_level1_rank0",
}
SIMULATED = {
    "everything-2024": ("observed-everything", 1, "1.0.0-2024-10", "pytorch-db"),
    "everything": ("observed-everything", 2, None, "pytorch-db"),
    "910a-level0": ("cnn-910a", 0, None, "pytorch-db"),
    "msprof": ("observed-everything", 2, None, "msprof-db"),
    "310p": ("inference-310p", 1, None, "msprof-db"),
}
"""Preset, level, revision and output."""
TRIED = {
    ("310p", "python-2025"),
}
"""What the suite tries; `make exhaustive` tries one writer of every other database."""


def cases(writers: Mapping[str, Iterable[str]]) -> list[Any]:
    """Names of databases with the writers of each."""
    found = []
    for at, (name, known) in enumerate(writers.items()):
        marks = iter(() if at % 2 else (pytest.mark.exhaustive,))
        for writer in known:
            mark = () if (name, writer) in TRIED else next(marks, pytest.mark.campaign)
            found.append(pytest.param(name, writer, marks=mark, id=f"{name}-{writer}"))
    return found


def writers_of(output: str, family: str) -> Iterator[str]:
    """The generations of exporters whose files can be written."""
    for writer in text_catalog().writers.values():
        known = writer.output == output and writer.tabbed and text_catalog().written_by(writer.id)
        if known and family in writer.families:
            yield writer.id


def writers_of_simulated(name: str) -> Iterator[str]:
    scenario, _, _, form = SIMULATED[name]
    return writers_of(form.partition("-")[0], preset(scenario).hardware.product)


def checked(path: Path) -> Report:
    """The report on a folder without a violation."""
    report = check([path])
    assert [file.unreadable for file in report.files if file.unreadable] == []
    assert [
        f"{finding.rule} {finding.place}: {finding.message}"
        for finding in report.findings
        if finding.verdict in ("violation", "failure")
    ] == []
    return report


def contents(files: Iterable[Path]) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in files}


def export_and_check(database: Path, around: Iterable[Path], writer: str, folder: Path) -> None:
    """Check an export alone, which shows its writer, and with what lies around the database.

    Where a newer writer has the same files, that one is seen.
    """
    files, _ = export_database(database, folder, writer=writer)
    assert files
    (seen,) = [file.seen for file in checked(folder).files]
    assert seen is not None
    newer, newest = text_catalog().writers[writer].like, folder.with_name("newest")
    if newer is not None:
        others, _ = export_database(database, newest, writer=newer)
        if contents(files) == contents(others):
            writer = newer
    assert writer in (seen.revision or "").split(", ")
    for path in around:
        shutil.copyfile(path, folder / path.name)
    checked(folder)


@pytest.mark.parametrize(
    ("name", "writer"), cases({name: writers_of("pytorch", "910A") for name in REAL})
)
def test_exports_of_real_databases_conform(name: str, writer: str, tmp_path: Path) -> None:
    folder = real(REAL[name])
    (database,) = folder.glob("ascend_pytorch_profiler_*.db")
    around = [path for path in folder.iterdir() if path.suffix in (".db", ".json")]
    export_and_check(database, around, writer, tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "writer"), cases({name: writers_of_simulated(name) for name in SIMULATED})
)
def test_exports_of_simulated_databases_conform(name: str, writer: str, tmp_path: Path) -> None:
    scenario, level, revision, form = SIMULATED[name]
    chosen = override(preset(scenario), ranks=2, steps=1, level=level)
    run = write_run(chosen, 0, tmp_path / "run", (form,), revision)
    pattern = {"pytorch-db": "ascend_pytorch_profiler_*.db", "msprof-db": "msprof_*.db"}[form]
    database = sorted(run.folder.rglob(pattern))[-1]
    folder = database.parent
    around = [*folder.glob("*.db"), *folder.glob("*.json")]
    if form == "pytorch-db":
        around += folder.parent.glob("*.json")
    export_and_check(database, around, writer, tmp_path / "out")


def test_exported_steps_follow_the_task_queue(tmp_path: Path) -> None:
    """The second of three entries waits at the border of two steps, and is of the first."""
    chosen = override(preset("single-op"), steps=3)
    run = write_run(chosen, 0, tmp_path / "run", ("pytorch-db",))
    (database,) = run.folder.rglob("ascend_pytorch_profiler_*.db")
    with closing(sqlite3.connect(database)) as profile:
        _, _, (given,), (taken,), _, _ = profile.execute(
            "SELECT CAST(startNs AS INTEGER) FROM PYTORCH_API WHERE type = "
            "(SELECT id FROM ENUM_API_TYPE WHERE name = 'queue') ORDER BY startNs"
        )
        border = (given + taken) // 2
        name = "name = (SELECT id FROM STRING_IDS WHERE value = 'ProfilerStep#{}')"
        for table, of in (("PYTORCH_API", name), ("STEP_TIME", "id = {}")):
            profile.execute(f"UPDATE {table} SET endNs = {border} WHERE {of.format(1)}")
            profile.execute(f"DELETE FROM {table} WHERE {of.format(2)}")
            profile.execute(f"UPDATE {table} SET startNs = {border} WHERE {of.format(3)}")
        profile.commit()
    export_database(database, tmp_path / "out")
    with (tmp_path / "out" / "kernel_details.csv").open(newline="", encoding="utf-8") as file:
        assert [row["Step Id"] for row in csv.DictReader(file)] == ["1", "1", "3"]
    selection = Selection(select=("XLR304", "XLR307"))
    assert check([tmp_path / "out"], Options(selection=selection, workers=1)).findings == ()
