"""Specimens on disk: the directories of the exporters, and the verb that writes them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner

from ascend_simulator.cli.specimen import specimen
from ascend_simulator.specimen import Shape, write_msprof_folder, write_rank_folder
from ascend_spec import catalog

NEWEST = catalog().revisions[-1].id


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))


def values(database: Path, query: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    rows = connection.execute(query).fetchall()
    connection.close()
    return rows


def test_a_rank_folder_has_the_names_that_readers_look_for(tmp_path: Path) -> None:
    folder = write_rank_folder(tmp_path, NEWEST, Shape(rank=1))
    assert folder.name == "node-1_3217658_20260101170000000_ascend_pt"
    assert files(folder) == [
        "ASCEND_PROFILER_OUTPUT/analysis.db",
        "ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_1.db",
        "profiler_info_1.json",
    ]


def test_rank_is_the_same_in_database_file_name_and_information(tmp_path: Path) -> None:
    folder = write_rank_folder(tmp_path, NEWEST, Shape(rank=1, devices=2))
    information = json.loads((folder / "profiler_info_1.json").read_text(encoding="utf-8"))
    database = folder / "ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_1.db"
    assert information["rank_id"] == 1
    assert values(database, "SELECT * FROM RANK_DEVICE_MAP") == [(1, 1), (1, 2)]


def test_an_msprof_folder_has_the_names_that_readers_look_for(tmp_path: Path) -> None:
    folder = write_msprof_folder(tmp_path, NEWEST)
    assert folder.name == "PROF_000001_20260101170000000_ABCDEFGHIJKLMNOP"
    assert files(folder) == ["msprof_20260101170000.db"]
    rank_ids = values(folder / "msprof_20260101170000.db", "SELECT rankId FROM RANK_DEVICE_MAP")
    assert rank_ids == [(-1,)]


def test_two_writings_of_one_shape_have_the_same_bytes(tmp_path: Path) -> None:
    first, second = (
        write_rank_folder(tmp_path / name, "1.0.0", Shape(seed=7)) for name in ("a", "b")
    )
    assert files(first) == files(second)
    for name in files(first):
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_the_verb_writes_one_folder_per_rank_and_names_them(tmp_path: Path) -> None:
    result = CliRunner().invoke(specimen, ["-o", str(tmp_path / "o"), "--ranks", "3"])
    assert result.exit_code == 0
    written = [Path(line) for line in result.output.splitlines()]
    assert written == sorted((tmp_path / "o").iterdir())
    assert [len(files(folder)) for folder in written] == [3, 3, 3]


def test_the_verb_touches_nothing_that_exists(tmp_path: Path) -> None:
    arguments = ["-o", str(tmp_path / "o"), "--carrier", "msprof"]
    assert CliRunner().invoke(specimen, arguments).exit_code == 0
    before = next(tmp_path.rglob("*.db")).read_bytes()
    result = CliRunner().invoke(specimen, [*arguments, "--seed", "1"])
    assert result.exit_code == 2
    assert "exists already" in result.output
    assert next(tmp_path.rglob("*.db")).read_bytes() == before


def test_the_verb_replaces_what_exists_when_it_is_told_to(tmp_path: Path) -> None:
    folder = tmp_path / "o"
    folder.mkdir()
    (folder / "old.txt").write_text("old", encoding="utf-8")
    words = ["-o", str(folder), "--carrier", "msprof", "--force"]
    assert CliRunner().invoke(specimen, words).exit_code == 0
    assert not (folder / "old.txt").exists()
    assert [one.name for one in tmp_path.iterdir()] == ["o"]
    assert list(folder.rglob("msprof_*.db"))


def test_an_unknown_revision_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    result = CliRunner().invoke(specimen, ["-o", str(tmp_path / "o"), "--revision", "9.9"])
    assert result.exit_code == 2
    assert "1.0.0-2024-10" in result.output


@pytest.mark.parametrize(
    ("field", "value"),
    [("steps", 0), ("devices", 0), ("ranks", 0), ("operators", 0), ("seed", -1), ("level", 3)],
)
def test_a_size_out_of_range_is_named(field: str, value: int) -> None:
    with pytest.raises(ValueError, match=field):
        Shape(**{field: value})


def test_a_rank_outside_of_its_group_is_named() -> None:
    with pytest.raises(ValueError, match="rank"):
        Shape(ranks=2, rank=2)
