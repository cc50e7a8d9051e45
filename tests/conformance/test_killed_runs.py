"""What a run leaves when it is killed: nothing that is taken for a profile, and ``check`` names it.

The process ends at once at a chosen change of a name, which is when a draft is most complete.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from slices import few

from ascend_conformance.check import check
from ascend_conformance.discover import NothingToCheck, discover
from ascend_ref.atomic import hidden_path, left_behind
from ascend_ref.below import files_below
from ascend_ref.cli import main
from ascend_simulator.specimen import Shape, write_rank_folder
from ascend_spec import catalog

NEWEST = catalog().revisions[-1].id
KILLED = 9

PROGRAM = """
import os, sys
from ascend_ref.cli import main

left = int(sys.argv[1])

def counted(rename):
    def change(*names, **options):
        global left
        if not left:
            os._exit(9)
        left -= 1
        return rename(*names, **options)
    return change

os.rename, os.replace = counted(os.rename), counted(os.replace)
sys.exit(main(sys.argv[2:]))
"""


def run_until(renames: int, arguments: Sequence[str], folder: Path) -> int:
    """The exit code of a command that is killed when it would change so many further names."""
    command = [sys.executable, "-c", PROGRAM, str(renames), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode


def named_as_left(folder: Path) -> str:
    with pytest.raises(NothingToCheck) as caught:
        check([folder])
    return str(caught.value)


@pytest.fixture
def rank(tmp_path: Path) -> Path:
    shape = Shape(ranks=1, operators=2)
    return write_rank_folder(tmp_path / "given", NEWEST, shape).rename(tmp_path / "given" / "rank")


@pytest.mark.parametrize("renames", few([3, 5, 6], every=3))
def test_a_killed_specimen_is_absent(renames: int, tmp_path: Path) -> None:
    command = ("specimen", "-o", "run", "--operators", "2")
    assert run_until(renames, command, tmp_path) == KILLED
    (left,) = tmp_path.iterdir()
    assert list(left.rglob("*.db"))
    assert f"{left}: a draft" in named_as_left(tmp_path)
    assert list(files_below(tmp_path)) == []


@pytest.mark.parametrize(
    ("command", "renames"),
    [
        (("simulate", "single-op", "-o", "run", "--as", "pytorch-db,csv"), 3),
        (("export", "given/rank", "-o", "run"), 6),
    ],
    ids=["simulate", "export"],
)
def test_what_a_killed_run_left_is_no_profile(
    command: Sequence[str], renames: int, tmp_path: Path, rank: Path
) -> None:
    before = set(tmp_path.iterdir())
    assert run_until(renames, command, tmp_path) == KILLED
    (left,) = set(tmp_path.iterdir()) - before
    assert any(path.is_file() for path in left.rglob("*"))
    for place in (left, *left.rglob("*")):
        assert f"{left}: a draft" in named_as_left(place)
    report = check([tmp_path])
    assert [one.file for one in report.findings if one.rule == "REF003"] == [str(left)]
    assert not any(str(left) in file.file for file in report.files if file.seen)


@pytest.mark.exhaustive
def test_a_killed_writer_of_one_file_leaves_a_named_draft(tmp_path: Path, rank: Path) -> None:
    command = ("check", str(rank), "--report", "json=rank.json")
    assert run_until(0, command, tmp_path) == KILLED
    (left,) = {path for path in tmp_path.iterdir() if path.is_file()}
    assert left_behind(left) == left
    assert not (tmp_path / "rank.json").exists()
    assert "REF003" in {one.rule for one in check([tmp_path]).findings}


@pytest.mark.exhaustive
def test_a_draft_that_goes_on_is_advice_next_to_a_profile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rank_folder(tmp_path, NEWEST, Shape(ranks=1, operators=2))
    clean = {one.file for one in check([tmp_path]).files}
    left = hidden_path(tmp_path / "run")
    write_rank_folder(left, NEWEST, Shape(ranks=2, rank=1, operators=2))
    assert {one.file for one in check([tmp_path]).files} == clean | {str(left)}
    assert main(["check", str(tmp_path)]) == 0
    assert "delete it" in capsys.readouterr().out
    assert main(["check", str(tmp_path), "--ignore", "REF003", "--fail-on", "note"]) == 0


def test_a_former_output_is_not_to_be_deleted(tmp_path: Path) -> None:
    aside = hidden_path(tmp_path / "run", "old")
    write_rank_folder(aside, NEWEST, Shape(ranks=1, operators=2))
    assert "rename it back" in named_as_left(tmp_path)


def test_a_hidden_folder_is_searched_only_by_its_name(tmp_path: Path) -> None:
    hidden = tmp_path / ".cache"
    write_rank_folder(hidden, NEWEST, Shape(ranks=1, operators=2))
    with pytest.raises(NothingToCheck):
        discover(tmp_path)
    assert len(discover(hidden)) == 2


def test_hidden_names_fit_and_never_meet(tmp_path: Path) -> None:
    """A name may have 255 bytes, and a process number may be that of another container's run."""
    target = tmp_path / ("漢" * 85)
    names = {hidden_path(target) for _ in range(100)}
    assert len(names) == 100
    assert all(str(os.getpid()) not in path.name.split(".")[2:3] for path in names)
    for path in sorted(names)[:2]:
        path.mkdir()
