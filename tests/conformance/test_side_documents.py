"""What lies next to a database, damaged or strange, is named; nothing there is waited for."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from slices import some

from ascend_conformance.check import check
from ascend_conformance.finding import Finding
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection
from ascend_ref.bin.container import Unreadable
from ascend_ref.bin.folder import decode_folder, encode_folder
from ascend_ref.cli import main
from ascend_simulator.specimen import Shape, write_rank_folder
from ascend_spec import catalog

NEWEST = catalog().revisions[-1].id


@pytest.fixture
def rank(tmp_path: Path) -> Path:
    return write_rank_folder(tmp_path / "run", NEWEST, Shape(ranks=1, operators=2))


def found(rank: Path, rule: str) -> list[Finding]:
    options = Options(workers=1, selection=Selection((rule,)))
    return [one for one in check([rank], options).findings if one.rule == rule]


def replaced_by_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def huge(path: Path) -> None:
    os.truncate(path, 100 << 30)


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut": (lambda path: path.write_bytes(b'{\n"x": {\n"y"'), "tail is missing (line 3, byte"),
    "no JSON": (lambda path: path.write_bytes(b"\n nonsense"), "(line 2, byte 3)"),
    "empty": (lambda path: path.write_bytes(b""), "(line 1, byte 0)"),
    "wide": (lambda path: path.write_bytes("{}".encode("utf-16")), "UTF-16"),
    "a list": (lambda path: path.write_bytes(b"[]"), "no JSON object"),
    "twice": (
        lambda path: path.write_bytes(b'{"rank_id": 0,\n "x": {"y": 1, "y": 2}}'),
        "the key 'y' stands more than once (line 2, byte 27)",
    ),
    "deep": (lambda path: path.write_bytes(b"[" * 100_000), "no JSON"),
    "a pipe": (replaced_by_a_pipe, "no regular file"),
    "huge": (huge, "more than 8,388,608 bytes"),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(
    "document", some(["profiler_info_0.json", "profiler_metadata.json"], every=3)
)
def test_a_damaged_document_is_named(rank: Path, document: str, damage: str) -> None:
    change, said = DAMAGES[damage]
    path = rank / document
    path.touch()
    change(path)
    (finding,) = found(rank, "DB009")
    assert str(path) in finding.message
    assert said in finding.message


def test_sound_documents_are_not(rank: Path) -> None:
    (rank / "profiler_metadata.json").write_text("{}")
    assert found(rank, "DB009") == []
    (rank / "profiler_info_0.json").unlink()
    assert found(rank, "DB009") == []


def test_what_follows_a_database_is_counted(rank: Path) -> None:
    """100 GB of zeros, which take no room on the disk, passed without a word."""
    (path,) = rank.rglob("ascend_pytorch_profiler_0.db")
    size = path.stat().st_size
    os.truncate(path, size + (100 << 30))
    (finding,) = found(rank, "DB008")
    assert f"{100 << 30:,} bytes" in finding.message
    os.truncate(path, size)
    assert found(rank, "DB008") == []


@pytest.mark.parametrize("name", ["manifest.json", "raw"])
def test_a_pipe_in_a_decoded_folder_is_refused(tmp_path: Path, name: str) -> None:
    source = tmp_path / "visualize_data.bin"
    source.write_bytes(b"\x5a" * 100)
    folder = tmp_path / "decoded"
    decode_folder(source, folder)
    path = next(one for one in folder.iterdir() if name in one.name)
    replaced_by_a_pipe(path)
    with pytest.raises(Unreadable, match=path.name):
        encode_folder(folder, tmp_path / "again.bin")
    assert not (tmp_path / "again.bin").exists()


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("SELECT 1", []),
        ("DROP TABLE TASK_PMU_INFO", ["LOS204"]),
        (
            "DROP TABLE TASK_PMU_INFO; CREATE TABLE SAMPLE_PMU_TIMELINE (a);"
            " INSERT INTO SAMPLE_PMU_TIMELINE VALUES (1)",
            [],
        ),
    ],
    ids=["whole", "lost", "sampled"],
)
def test_counters_that_profiler_info_names_are_there(
    change: str, found: list[str], tmp_path: Path
) -> None:
    """Of tasks, or samples in their place."""
    folder = tmp_path / "run"
    assert main(["simulate", "single-op", "--as", "pytorch-db", "--output", str(folder)]) == 0
    with closing(sqlite3.connect(next(folder.rglob("ascend_pytorch_profiler_*.db")))) as database:
        database.executescript(change)
        database.commit()
    options = Options(workers=1, selection=Selection(("LOS204",)))
    assert [one.rule for one in check([folder], options).findings] == found
