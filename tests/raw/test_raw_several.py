"""Several raw profiles below one folder: each is read, written and let go of by itself."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from raw_trees import api, device_ticks, host_ticks, stars, task_track, write_tree
from slices import some

from ascend_ref.cli import main
from ascend_ref.profile import raw
from ascend_ref.profile.raw import export_raw


def small(prof: Path) -> None:
    """A task of a 910B that a call launched."""
    host = {
        "unaging.api_event.data.slice_0": api(
            10000, 5, 4243, host_ticks(10_000), host_ticks(10_050)
        ),
        "unaging.compact.task_track.slice_0": task_track(4243, host_ticks(10_030), 2, 1, 0, 0),
    }
    log = stars(0, 0, 2, 1, device_ticks(10_100)) + stars(1, 0, 2, 1, device_ticks(10_120))
    write_tree(prof, host, {"stars_soc.data.0.slice_0": log})


def files(folder: Path) -> list[str]:
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*.db"))


def contents(folder: Path) -> dict[Path, bytes]:
    return {one.relative_to(folder): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_folders_of_one_name_stay_apart(tmp_path: Path) -> None:
    small(tmp_path / "run" / "first" / "PROF_1")
    small(tmp_path / "run" / "second" / "PROF_1")
    written, _, _ = export_raw(tmp_path / "run", tmp_path / "out", ("db",))
    (name,) = {one.name for one in written if one.suffix == ".db"}
    assert files(tmp_path / "out") == [f"first/PROF_1/{name}", f"second/PROF_1/{name}"]


@pytest.mark.parametrize("profiles", [False, True])
def test_one_is_let_go_of_before_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profiles: bool
) -> None:
    for rank in range(3):
        place = tmp_path / "run" / f"host_{rank}_20260101000000000_ascend_pt"
        small(place / f"PROF_{rank}")
        if profiles:
            (place / f"profiler_info_{rank}.json").write_text("{}")
    read: list[weakref.ref[Any]] = []

    def watched(reader: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def run(source: Any) -> Any:
            assert [one for one in read if one() is not None] == []
            found = reader(source)
            read.append(weakref.ref(found))
            return found

        return run

    name = "read_profile" if profiles else "read_prof"
    monkeypatch.setattr(raw, name, watched(getattr(raw, name)))
    export_raw(tmp_path / "run", tmp_path / "out", ("db",))
    assert len(read) == 3


@pytest.mark.exhaustive
@pytest.mark.parametrize("what", some(["profiles", "PROF_*", "databases"], every=3))
def test_as_many_processes_as_wanted_write_the_same(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "run"
    form = {"profiles": "pytorch-raw", "PROF_*": "raw", "databases": "pytorch-db"}[what]
    words = ["simulate", "single-op", "--ranks", "2", "--as", form, "-o", str(source)]
    assert main(words) == 0
    for lost in source.rglob("info.json.*"):  # something to state of each, in their order
        lost.unlink()
    capsys.readouterr()
    said = []
    for workers in (1, 2):
        out = tmp_path / str(workers) / "out"
        words = ["export", str(source), "-o", str(out), "--workers", str(workers)]
        assert main(words) == (0 if what == "databases" else 1)
        said.append([text.replace(str(out), "") for text in capsys.readouterr()])
    assert said[0] == said[1]
    found = contents(tmp_path / "1")
    assert len({one.parts[1] for one in found}) == 2
    assert found == contents(tmp_path / "2")


@pytest.mark.exhaustive
def test_an_error_in_another_process_is_one_line_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "run"
    for number in range(2):
        small(source / f"PROF_{number}")
    for one in (source / "PROF_1").rglob("start_info*"):
        one.unlink()
    assert main(["export", str(source), "-o", str(tmp_path / "out"), "--workers", "2"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "PROF_1" in line
    assert [one.name for one in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("inner", ["old", "incomplete.txt", "mindstudio_profiler_output"])
def test_one_within_another_is_left_out_and_stated(inner: str, tmp_path: Path) -> None:
    """Also where its folder would be in the way of what is written."""
    outer = tmp_path / "run" / "PROF_1"
    small(outer)
    small(outer / inner)
    small(tmp_path / "run" / "PROF_2")
    written, damage, _ = export_raw(tmp_path / "run", tmp_path / "out", ("db", "csv"))
    assert len(files(tmp_path / "out")) == 2
    assert tmp_path / "out" / "PROF_1" / "incomplete.txt" in written
    assert damage[-1] == f"{outer / inner}: in another one; export it by itself"


def test_only_files_are_listed_where_a_host_has_dots_in_its_name(tmp_path: Path) -> None:
    for rank in range(2):
        place = tmp_path / "run" / f"node.local_{rank}_20260101000000000_ascend_pt"
        small(place / "PROF_1")
        (place / f"profiler_info_{rank}.json").write_text("{}")
    written, _, _ = export_raw(tmp_path / "run", tmp_path / "out", ("db",))
    assert written
    assert all(one.is_file() for one in written)


def test_what_lies_deeper_in_a_prof_folder_is_not_taken_for_it(tmp_path: Path) -> None:
    """The deeper one is found below PROF_*, but not from the profile: it is a level too deep."""
    place = tmp_path / "host_1_20260101000000000_ascend_pt"
    small(place / "PROF_1")
    small(place / "PROF_1" / "old" / "PROF_0")
    (place / "profiler_info_0.json").write_text("{}")
    written, _, _ = export_raw(place, tmp_path / "out", ("db",))
    assert {one.name for one in written} >= {"ascend_pytorch_profiler.db"}


def test_the_host_alone_is_read_where_it_is_named(tmp_path: Path) -> None:
    small(tmp_path / "PROF_1")
    _, _, (account,) = export_raw(
        tmp_path / "PROF_1" / "host", tmp_path / "out", ("db",), explained=True
    )
    assert account.folders == ("host",)
