"""Many databases judged at the same time give the report of one after the other."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from slices import marked

from ascend_conformance import check as check_module
from ascend_conformance.check import check, fitting_executor
from ascend_conformance.finding import Report
from ascend_conformance.options import Options
from ascend_ref.cli import main
from ascend_ref.execution import Executor, InProcess, Processes, open_executor
from ascend_simulator.specimen import Shape, write_rank_folder
from ascend_spec import catalog

NEWEST = catalog().revisions[-1].id


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ranks: one database broken, one unreadable, one group named otherwise."""
    folder = tmp_path_factory.mktemp("many") / "run"
    for rank in range(2):
        output = write_rank_folder(folder, NEWEST, Shape(ranks=2, rank=rank))
        with closing(
            sqlite3.connect(
                output / "ASCEND_PROFILER_OUTPUT" / f"ascend_pytorch_profiler_{rank}.db"
            )
        ) as database:
            if rank:
                database.execute("UPDATE TASK SET endNs = startNs - 1 WHERE globalTaskId = 3")
                database.execute(
                    "UPDATE STRING_IDS SET value = 'otherwise' WHERE id = "
                    "(SELECT groupName FROM COMMUNICATION_OP)"
                )
            database.commit()
    (folder / "msprof_20260101170000.db").write_bytes(b"nothing")
    return folder


@pytest.fixture(params=["processes", marked("dask", pytest.mark.exhaustive)])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    """Two workers; those of dask stand in another folder than this process."""
    if request.param == "processes":
        yield Processes(2)
        return
    from distributed import LocalCluster

    here = Path.cwd()
    os.chdir("/")
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    os.chdir(here)
    with cluster, open_executor(dask=cluster.scheduler_address) as found:
        yield found


def timeless(report: Report) -> Report:
    return replace(report, files=tuple(replace(file, seconds=0.0) for file in report.files))


@pytest.mark.exhaustive
def test_the_report_does_not_depend_on_the_executor(
    executor: Executor, profiles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(profiles.parent)
    expected = check([profiles.name])
    assert expected.findings
    assert any(file.unreadable for file in expected.files)
    assert timeless(check([profiles.name], executor=executor)) == timeless(expected)


@pytest.mark.exhaustive
def test_progress_counts_the_files(profiles: Path) -> None:
    told: list[tuple[str, int, int, str]] = []

    def begin(path: Path) -> object:
        return lambda done, total, what: told.append((path.name, done, total, what))

    check([profiles], progress=begin, executor=Processes(2))  # type: ignore[arg-type]
    assert [(name, done, total) for name, done, total, _ in told] == [
        ("run", done, 5) for done in range(1, 6)
    ]


@pytest.mark.parametrize(
    ("large", "workers", "expected"),
    [(1, 2, Processes(2)), (1, 1, InProcess()), (1, 9, InProcess()), (1 << 40, 2, InProcess())],
)
def test_processes_are_chosen_where_files_keep_them_busy(
    large: int,
    workers: int,
    expected: Executor,
    profiles: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(check_module, "PARALLEL_BYTES", large)
    assert fitting_executor([profiles], Options(workers=workers)) == expected


def test_the_command_judges_in_processes(
    profiles: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["check", str(profiles), "--format", "jsonl"]
    main([*words, "--workers", "1"])
    expected = capsys.readouterr().out
    monkeypatch.setattr(check_module, "PARALLEL_BYTES", 1)
    main([*words, "--workers", "2"])
    assert capsys.readouterr().out == expected


def test_the_command_says_what_is_wrong_with_an_address(
    profiles: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(profiles), "--dask", "nowhere"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("ascend-ref: error: dask: the address is 'nowhere'; expected one such as")


@pytest.mark.exhaustive
def test_eight_ranks_fit_on_a_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A clean run in 12 lines, one with a fault of every rank in 40."""
    folder = tmp_path / "run"
    for rank in range(8):
        write_rank_folder(folder, NEWEST, Shape(ranks=8, rank=rank))
    assert main(["check", str(folder)]) == 0
    clean = capsys.readouterr().out.splitlines()
    assert len(clean) <= 12
    assert clean[0].startswith("conforms: no violation")
    for path in folder.rglob("ascend_pytorch_profiler_*.db"):
        with closing(sqlite3.connect(path)) as database, database:
            for table in ("TASK", "CANN_API", "PYTORCH_API"):
                database.execute(f"UPDATE {table} SET startNs = startNs / 1000")
    assert main(["check", str(folder)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert 12 < len(lines) <= 40
    assert "8 files" in lines[1] or "8 files" in lines[2]
