"""Raw profiles of the framework exported: what was simulated, and damaged ones."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path

import framework_bytes as by_hand
import pytest
from framework_bytes import mark, operator, write_profile
from framework_tables import read
from same_outputs import require_same_outputs
from slices import marked, some

from ascend_ref.cli import main
from ascend_ref.profile import write_pytorch_profile
from ascend_ref.profile.raw import INCOMPLETE, PROFILE_KINDS, export_raw
from ascend_ref.raw import Unreadable
from ascend_ref.raw.framework.read import read_profile
from ascend_simulator.run import simulate
from ascend_simulator.scenario import RUN
from ascend_spec import catalog

NEWEST = catalog().revisions[-1].id


def single(folder: Path) -> Path:
    """The raw profile of one operator."""
    capture = simulate(RUN.preset("single-op")).capture(0)
    return write_pytorch_profile(folder, capture, NEWEST, ("raw",))


CASES = {
    "everything": ("observed-everything", {}),
    "level 0": ("observed-everything", {"level": 0}),
    "the host alone": ("observed-everything", {"npu": False}),
    "the device alone": ("observed-everything", {"cpu": False}),
    "no stacks, shapes and marks": (
        "observed-everything",
        {"stack": False, "record_shapes": False, "mstx": False},
    ),
    "a compiled graph": ("edge-310b", {}),
    "an inference": ("inference-310p", {}),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", some(CASES, every=3))
def test_an_export_is_what_was_simulated(case: str, tmp_path: Path) -> None:
    name, switches = CASES[case]
    scenario = RUN.preset(name)
    scenario = replace(
        scenario,
        capture=replace(scenario.capture, **switches),  # type: ignore[arg-type]
        schedule=replace(scenario.schedule, active=1),
    )
    capture = simulate(scenario).capture(0)
    profile = write_pytorch_profile(tmp_path, capture, NEWEST, ("raw", "db", "text"))
    written, damage, _ = export_raw(profile, tmp_path / "out")
    assert damage == []
    assert {one.suffix for one in written} == {".db", ".csv", ".json"}
    output = "ASCEND_PROFILER_OUTPUT"
    require_same_outputs(profile / output, tmp_path / "out" / output)


@pytest.mark.parametrize("npu", [marked(True, pytest.mark.exhaustive), False])
def test_what_readers_take_the_rank_and_the_switches_from_stands_by_an_export(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], npu: bool
) -> None:
    """So check does not miss files of a device that was not recorded."""
    scenario = RUN.preset("single-op")
    scenario = replace(scenario, capture=replace(scenario.capture, npu=npu))
    capture = simulate(scenario).capture(0)
    profile = write_pytorch_profile(tmp_path, capture, NEWEST, ("raw",))
    export_raw(profile, tmp_path / "out")
    for name in ("profiler_info_0.json", "profiler_metadata.json"):
        assert (tmp_path / "out" / name).read_bytes() == (profile / name).read_bytes()
    capsys.readouterr()
    assert main(["check", str(tmp_path / "out")]) == 0
    found = capsys.readouterr().out
    assert "rank 0" in found
    assert not any(rule in found for rule in ("CSV033", "LOS301"))


@pytest.mark.parametrize("kind", ["link", "folder", "long"])
def test_what_is_not_read_of_a_profile_is_not_copied(kind: str, tmp_path: Path) -> None:
    """A profile that somebody sent may point to files elsewhere, or state sizes that fill disks."""
    profile = single(tmp_path)
    secret = tmp_path / "secret"
    secret.write_text('{"password": 1}')
    named = profile / "profiler_metadata.json"
    named.unlink(missing_ok=True)
    if kind == "link":
        named.symlink_to(secret)
    elif kind == "folder":
        named.mkdir()
        (named / "file").touch()
    else:
        with named.open("wb") as file:
            file.truncate(1 << 40)  # a hole: no bytes on disk
    _, damage, _ = export_raw(profile, tmp_path / "out", ("csv",))
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == sorted(
        ["ASCEND_PROFILER_OUTPUT", "profiler_info_0.json", *[INCOMPLETE][: len(damage)]]
    )
    assert bool(damage) == (kind == "long")


def test_of_several_documents_the_one_that_is_read_is_copied(tmp_path: Path) -> None:
    profile = single(tmp_path)
    (profile / "profiler_info_1.json").write_text("{}")
    export_raw(profile, tmp_path / "out", ("csv",))
    assert [one.name for one in (tmp_path / "out").glob("profiler_info*")] == [
        "profiler_info_0.json"
    ]


def test_a_program_without_a_rank_has_a_database_without_one(tmp_path: Path) -> None:
    """profiler_info.json, without rank_id (consumers 3.2); so DbParser of torch_npu names it."""
    profile = single(tmp_path)
    named = profile / "profiler_info_0.json"
    document = json.loads(named.read_text())
    del document["rank_id"]
    (profile / "profiler_info.json").write_text(json.dumps(document))
    named.unlink()
    written, damage, _ = export_raw(profile, tmp_path / "out")
    assert damage == []
    (path,) = (one for one in written if one.name.startswith("ascend_pytorch_profiler"))
    assert path.name == "ascend_pytorch_profiler.db"
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT rankId, deviceId FROM RANK_DEVICE_MAP").fetchall() == [
            (-1, 0)
        ]


def test_ranks_are_exported_next_to_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    args = ["simulate", "observed-everything", "--steps", "1", "--as", "pytorch-raw"]
    assert main([*args, "-o", str(out)]) == 0
    profiles = sorted(one.name for one in out.glob("*_ascend_pt"))
    assert len(profiles) > 1
    capsys.readouterr()
    assert main(["export", str(out), "--as", "db", "-o", str(tmp_path / "out")]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    listed = [Path(line).relative_to(tmp_path / "out").parts for line in captured.out.splitlines()]
    assert sorted({one[0] for one in listed}) == profiles
    databases = [one for one in listed if one[-1].endswith(".db")]
    assert {one[1] for one in databases} == {"ASCEND_PROFILER_OUTPUT"}


def test_simulate_states_what_raw_files_do_not_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "run")
    args = ["simulate", "text-museum", "--steps", "1", "--as", "pytorch-raw", "-o", out]
    assert main(args) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("raw files do not hold ")
    assert "the times of biu_cycles; multiples of 4,096 in biu_cycles" in line


# --- damage ---------------------------------------------------------------------------------------


@cache
def _operators() -> tuple[bytes, ...]:
    return tuple(operator(f"aten::{at}", 6_000 + 10 * at, 6_005 + 10 * at) for at in range(3))


def test_the_rest_of_a_damaged_file_is_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [*_operators(), _operators()[0][:-3]]
    marks = [mark(7, "aclnnAdd", 6_000, 1, 1)]
    profile = write_profile(tmp_path, {"op_range": records, "op_mark": marks})
    out = tmp_path / "out"
    assert main(["export", str(profile), "-o", str(out)]) == 1
    lines = capsys.readouterr().err.splitlines()
    place = f"{profile}/FRAMEWORK/torch."
    assert lines == [
        f"{place}op_range: byte {sum(map(len, _operators())):,}: the last "
        f"{len(records[3])} bytes are no whole record",
        f"{place}op_mark: byte 0: 1 marks of an unknown category; expected 0 to 3",
    ]
    assert (out / INCOMPLETE).read_text().splitlines() == lines
    assert (out / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_3.db").is_file()


@pytest.mark.parametrize(
    ("record", "damage"),
    [
        (operator("a", -5, 6_000), "1 records whose times no clock shows"),
        (operator("a", 6_000, 1 << 62), "1 records whose times no clock shows"),
        (operator("a", 6_000, 6_001, texts={8: "f"}) + b"\1\0", "the last 2 bytes"),
        (by_hand.tlv(1, bytes(20)), "a record of 20 bytes; expected at least 58"),
        (by_hand.tlv(9, bytes(58)), "tag 9; expected 1"),
    ],
    ids=["negative", "too large", "torn", "short", "other tag"],
)
def test_damage_of_operators(record: bytes, damage: str, tmp_path: Path) -> None:
    found, lines, _ = read(write_profile(tmp_path, {"op_range": [*_operators(), record]}))
    assert {"aten::0", "aten::1", "aten::2"} <= {one["name"] for one in found["activities"]}
    (line,) = lines
    assert line.startswith("FRAMEWORK/torch.op_range: byte ")
    assert damage in line


def test_a_text_that_is_no_utf_8_is_shown_with_its_numbers(tmp_path: Path) -> None:
    broken = operator("abc", 6_000, 6_001).replace(b"abc", b"a\xffc")
    found, lines, _ = read(write_profile(tmp_path, {"op_range": [broken]}))
    assert [one["name"] for one in found["activities"]] == ["a\\xffc"]
    assert lines == ["FRAMEWORK/torch.op_range: NAME 'a\\\\xffc' is no UTF-8 at its byte 1"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"end_info": {}}, "no collectionTimeEnd in end_info"),
        ({"end_info": {"collectionTimeEnd": 1 << 63}}, "no collectionTimeEnd in end_info"),
        ({"start_info": {"syscnt_enable": True}}, "no start_monotonic in start_info"),
        ({"start_info": []}, "no start_monotonic in start_info"),
        (
            {
                "start_info": {"start_monotonic": 0},
                "end_info": {"collectionTimeEnd": 1, "MonotonicTimeEnd": 2},
            },
            "which no clock shows",
        ),
    ],
)
def test_a_profile_of_no_time_is_one_line(
    changed: dict[str, object],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    info = by_hand.information(**changed)
    profile = write_profile(tmp_path, {"op_range": _operators()}, info)
    assert main(["export", str(profile), "-o", str(tmp_path / "out")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "content",
    [
        b'{"parallel_group_info": 7}',
        b'{"parallel_group_info": {"a": {"group_name": "dp", "group_rank": 0}}}',
        b'{"parallel_group_info": {"a": {"group_name": "dp", "global_ranks": [1e3]}}}',
        b'{"\\ud800": 1}',
        b'{"a": NaN}',
        b'{"a": 1e999}',
        b"[]",
    ],
)
def test_metadata_that_is_not_as_it_must_be_is_stated(content: bytes, tmp_path: Path) -> None:
    profile = write_profile(tmp_path, {"op_range": _operators()})
    (profile / "profiler_metadata.json").write_bytes(content)
    written, (line,), _ = export_raw(profile, tmp_path / "out")
    assert "profiler_metadata" in line
    assert written


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"[" * 100_000, b'{"start_info": NaN}'])
def test_a_broken_profiler_info_is_stated(content: bytes, tmp_path: Path) -> None:
    profile = write_profile(tmp_path, {"op_range": _operators()})
    (profile / "profiler_info_3.json").write_bytes(content)
    with pytest.raises(Unreadable, match="collectionTimeEnd"):
        read_profile(profile)


def test_framework_without_profiler_info_keeps_what_cann_recorded(tmp_path: Path) -> None:
    profile = write_pytorch_profile(
        tmp_path, simulate(RUN.preset("single-op")).capture(0), NEWEST, ("raw",)
    )
    (profile / "profiler_info_0.json").unlink()
    found = read_profile(profile)
    assert len(found.capture.tasks)
    assert not len(found.capture.activities)
    assert [one.message for one in found.damage] == [
        "profiler_info_*.json is missing",
        "no profiler_info_*.json states what the adapter counts, so nothing of FRAMEWORK is known",
    ]


def test_what_was_to_be_recorded_and_is_not_there_is_stated(tmp_path: Path) -> None:
    profile = write_pytorch_profile(
        tmp_path, simulate(RUN.preset("single-op")).capture(0), NEWEST, ("raw",)
    )
    (prof,) = profile.glob("PROF_*")
    prof.rename(tmp_path / prof.name)
    found = read_profile(profile)
    assert len(found.capture.activities)
    assert "PROF_* is missing" in [one.message for one in found.damage]
    (tmp_path / prof.name).rename(prof)
    for one in (profile / "FRAMEWORK").iterdir():
        one.unlink()
    (profile / "FRAMEWORK").rmdir()
    found = read_profile(profile)
    assert [one.message for one in found.damage] == ["FRAMEWORK is missing"]


def test_documents_are_made_of_a_profile_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = write_pytorch_profile(
        tmp_path, simulate(RUN.preset("single-op")).capture(0), NEWEST, ("raw",)
    )
    (prof,) = profile.glob("PROF_*")
    args = ["--as", "documents", "-o", str(tmp_path / "out")]
    assert main(["export", str(prof), *args]) == 2
    assert "documents is not made of raw files" in capsys.readouterr().err
    assert main(["export", str(profile), *args]) == 0
    assert PROFILE_KINDS[-1] == "documents"
