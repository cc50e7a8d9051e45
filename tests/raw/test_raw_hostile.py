"""Raw files that are damaged, lie or are missing: the rest is exported, each loss is stated."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

import pytest
from hostile_trees import TREES, copy, files, tree
from plain_capture import plain
from slices import some

from ascend_ref.cli import main
from ascend_ref.profile.raw import INCOMPLETE, export_raw
from ascend_ref.raw import Unreadable
from ascend_ref.raw.decode.read import RawCapture, read_raw


def read(folder: Path) -> RawCapture | None:
    """What is read, where anything can be."""
    try:
        (found,) = read_raw(folder)
    except Unreadable:
        return None
    return found


@pytest.mark.parametrize("name", some(["document", "observed-everything"], every=2))
def test_any_file_may_be_missing(tmp_path: Path, name: str) -> None:
    for path in files(tree(name)):
        folder = copy(name, tmp_path / "PROF_1")
        (folder / path.relative_to(tree(name))).unlink()
        read(folder)


# What its absence costs: raw-prof.md 6.2, but for what the exporter in C++ gives up as a whole.
MISSING = {
    "host/data/unaging.api_event.data.slice_0": {"calls", "kernels", "collectives", "transfers"},
    "host/data/aging.compact.task_track.slice_0": {"kernels", "transfers"},
    "host/data/unaging.compact.node_basic_info.slice_0": set(),
    "host/data/unaging.additional.hccl_info.slice_0": set(),
    "device_0/data/stars_soc.data.0.slice_0": {"tasks", "kernels", "counters", "transfers"},
    "device_0/data/ffts_profile.data.0.slice_0": {"counters"},
}


@pytest.mark.parametrize("missing", MISSING)
def test_what_a_missing_file_costs(tmp_path: Path, missing: str) -> None:
    folder = copy("document", tmp_path / "PROF_1")
    (folder / missing).unlink()
    found = read(folder)
    assert found is not None
    before = read(tree("document"))
    assert before is not None
    assert plain(before.capture).keys() - plain(found.capture).keys() == MISSING[missing]


@pytest.mark.parametrize("missing", ["host/host_start.log", "device_0/dev_start.log.0"])
def test_times_that_are_not_known_are_never_guessed(tmp_path: Path, missing: str) -> None:
    """The exporter in Python exports wrong times (erratum U15)."""
    folder = copy("document", tmp_path / "PROF_1")
    (folder / missing).unlink()
    found = read(folder)
    assert found is not None
    lost = "calls" if missing.startswith("host") else "tasks"
    assert lost not in plain(found.capture)
    assert any(Path(missing).name.removesuffix(".0") in str(one) for one in found.damage)


def test_a_session_without_a_start_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy("document", tmp_path / "PROF_1")
    (folder / "host" / "start_info").unlink()
    (folder / "device_0" / "start_info.0").unlink()
    assert main(["export", str(folder), "-o", str(tmp_path / "out")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "collectionTimeBegin" in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("time", some(["1767253856490261000", "9" * 19, "", "-1"], every=2))
def test_an_end_that_is_no_time_is_stated(tmp_path: Path, time: str) -> None:
    """In ns the first of them has 22 digits."""
    folder = copy("observed-everything", tmp_path / "PROF_1")
    for path in (folder / "host" / "end_info", folder / "device_0" / "end_info.0"):
        document = json.loads(path.read_text())
        path.write_text(json.dumps({**document, "collectionTimeEnd": time}))
    export_raw(folder, tmp_path / "out", ("db",))
    found = read(folder)
    assert found is not None
    assert found.capture.origin.end is None
    stated = [one.message for one in found.damage if "expected a text" in one.message]
    assert stated == [
        f"{kind}: collectionTimeEnd is {time!r}, expected a text of digits, a time in us"
        for kind in ("host_end_info", "device_end_info")
    ]


def test_damage_is_stated_where_users_look(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy("document", tmp_path / "PROF_1")
    path = folder / "host" / "data" / "aging.compact.task_track.slice_0"
    path.write_bytes(path.read_bytes()[:-7])
    assert main(["export", str(folder), "--as", "csv", "-o", str(tmp_path / "out")]) == 1
    captured = capsys.readouterr()
    assert "the last 57 bytes are no whole record of 64" in captured.err
    assert (tmp_path / "out" / INCOMPLETE).read_text() == captured.err
    assert any(line.endswith(".csv") for line in captured.out.splitlines())


def test_links_out_of_the_folder_and_in_circles_are_not_followed(tmp_path: Path) -> None:
    folder = copy("document", tmp_path / "PROF_1")
    data = folder / "host" / "data"
    os.symlink(folder, data / "host")
    os.symlink("/etc/passwd", data / "unaging.api_event.data.slice_1")
    found = read(folder)
    before = read(tree("document"))
    assert found is not None
    assert before is not None
    assert plain(found.capture) == plain(before.capture)


def mutated(folder: Path, draws: random.Random) -> None:
    """One to three random changes of files: bytes, ends, pieces that repeat or are gone."""
    every = files(folder)
    own = [one for one in every if not one.relative_to(folder).parts[0].startswith("PROF_")]
    for _ in range(draws.randint(1, 3)):
        path = draws.choice(own)
        content = bytearray(path.read_bytes())
        at = draws.randrange(len(content) + 1)
        match draws.randrange(5):
            case 0:
                content[at : at + 8] = draws.randbytes(8)
            case 1:
                del content[at:]
            case 2:
                del content[at : at + draws.randint(1, 100)]
            case 3:
                content[at:at] = content[: draws.randint(1, 1000)]
            case _:
                content[at : at + 8] = draws.choice([b"\xff" * 8, b"\0" * 8, b"\x7f" + b"\xff" * 7])
        path.write_bytes(content)


def try_mutations(tmp_path: Path, name: str, seeds: range) -> None:
    for seed in seeds:
        folder = copy(name, tmp_path / "PROF_1")
        mutated(folder, random.Random(seed))
        target = tmp_path / "out"
        shutil.rmtree(target, ignore_errors=True)
        try:
            export_raw(folder, target, ("db",) if seed % 4 else None)
        except Unreadable:
            assert not target.exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", some(TREES, every=3))
def test_mutations_are_findings(tmp_path: Path, name: str) -> None:
    try_mutations(tmp_path, name, range(12))


@pytest.mark.campaign
@pytest.mark.parametrize("name", TREES)
def test_thousands_of_mutations_are_findings(tmp_path: Path, name: str) -> None:
    try_mutations(tmp_path, name, range(1_000, 4_400))
