"""What profiler_info.json states that was recorded, and nothing shows, is missed."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from slices import few

from ascend_conformance.check import check
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
FOLDERS = {"db": DATA / "db" / "level1_rank0", "text": DATA / "text" / "pytorch_level1_rank0"}
MISSED = {"LOS203", "LOS204", "LOS210", "LOS301", "LOS306", "LOS312", "LOS313", "DB521"}


@pytest.fixture
def copies(tmp_path: Path) -> dict[str, Path]:
    """Real folders of a database and of texts, to be changed."""
    if not DATA.exists():
        pytest.skip(f"needs the real files of {DATA}")
    return {
        name: Path(shutil.copytree(folder, tmp_path / name, copy_function=shutil.copyfile))
        for name, folder in FOLDERS.items()
    }


def found(folder: Path) -> set[str]:
    options = Options(selection=Selection(select=tuple(MISSED)), workers=1)
    return {one.rule for one in check([folder], options).findings}


def run(folder: Path, *statements: str) -> None:
    (path,) = folder.rglob("ascend_pytorch_profiler_0.db")
    with closing(sqlite3.connect(path)) as rows:
        for statement in statements:
            rows.execute(statement)
        rows.commit()


def set_to(folder: Path, setting: str, value: object) -> None:
    (path,) = folder.rglob("profiler_info_0.json")
    document = json.loads(path.read_bytes())
    parts = document["config"].values()
    (part,) = [one for one in parts if isinstance(one, dict) and setting in one]
    part[setting] = value
    path.write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize(
    ("statements", "setting", "rule"),
    [
        (["DROP TABLE OP_MEMORY"], "profile_memory", "LOS204"),
        (["DROP TABLE OP_MEMORY", "DROP TABLE MEMORY_RECORD"], "profile_memory", "LOS204"),
        (
            ["DROP TABLE PYTORCH_CALLCHAINS", "UPDATE PYTORCH_API SET callchainId = NULL"],
            "with_stack",
            "LOS204",
        ),
        (
            ["UPDATE PYTORCH_API SET inputShapes = NULL, inputDtypes = NULL"],
            "record_shapes",
            "LOS210",
        ),
    ],
)
def test_what_a_database_was_configured_for_is_missed(
    statements: list[str], setting: str, rule: str, copies: dict[str, Path]
) -> None:
    run(copies["db"], *statements)
    assert found(copies["db"]) == {rule}
    set_to(copies["db"], setting, False)
    assert found(copies["db"]) == set()


def test_a_table_that_another_one_shows_to_be_missing_is_missed_once(
    copies: dict[str, Path],
) -> None:
    run(copies["db"], "DROP TABLE MEMORY_RECORD")
    assert found(copies["db"]) == {"LOS203"}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("names", "setting", "other"),
    few(
        [
            (["operator_memory.csv"], "profile_memory", False),
            (["operator_memory.csv", "memory_record.csv"], "profile_memory", False),
            (["communication.json", "communication_matrix.json"], "_profiler_level", "Level0"),
        ],
        every=3,
    ),
)
def test_a_file_that_a_folder_was_configured_for_is_missed(
    names: list[str], setting: str, other: object, copies: dict[str, Path]
) -> None:
    for name in names:
        next(copies["text"].rglob(name)).unlink()
    assert found(copies["text"]) == {"LOS312"}
    set_to(copies["text"], setting, other)
    assert "LOS312" not in found(copies["text"])


@pytest.mark.exhaustive
def test_shapes_that_a_timeline_was_configured_for_are_missed(copies: dict[str, Path]) -> None:
    (path,) = copies["text"].rglob("trace_view.json")
    events = json.loads(path.read_bytes())
    for event in events:
        event.get("args", {}).pop("Input Dims", None)
    path.write_text(json.dumps(events), encoding="utf-8")
    assert found(copies["text"]) == {"LOS313"}
    set_to(copies["text"], "record_shapes", False)
    assert found(copies["text"]) == set()
