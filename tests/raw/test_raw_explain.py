"""``export --explain``: why each table, CSV file and layer is there or absent."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from raw_trees import api, device_ticks, host_ticks, stars, task_track, write_tree
from slices import some

from ascend_ref.cli import main
from ascend_ref.explain import explain
from ascend_ref.raw.context import contexts
from ascend_ref.raw.decode.read import RawCapture, read_raw
from ascend_spec import catalog, raw_catalog

REVISION = catalog().revisions[-1].id
THREAD = 4243


def small(folder: Path) -> Path:
    """Two tasks of a 910B, one of them launched by a call."""
    t = host_ticks
    host = {
        "unaging.api_event.data.slice_0": api(10000, 5, THREAD, t(10_000), t(10_050)),
        "unaging.compact.task_track.slice_0": task_track(THREAD, t(10_030), 2, 1, 0, 0),
        "unaging.additional.type_info_dic.slice_0": b"10000_5:launch\n5000_0:KERNEL_AICORE\n",
    }
    ticks = [device_ticks(us) for us in (10_100, 10_120, 10_200, 10_220)]
    log = b"".join(
        stars(place % 2, place, 2, 1 + place // 2, tick) for place, tick in enumerate(ticks)
    )
    return write_tree(folder / "PROF_1", host, {"stars_soc.data.0.slice_0": log})


def simulated(folder: Path, *words: str) -> Path:
    assert main(["simulate", *words, "--as", "raw", "-o", str(folder / "run")]) == 0
    (prof,) = (folder / "run").glob("PROF_*")
    return prof


def explained(prof: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """What ``--explain --json`` states of one ``PROF_*``, by address."""
    capsys.readouterr()
    main(["export", str(prof), "--explain", "--json", *words])
    (account,) = json.loads(capsys.readouterr().out)
    return {one["address"]: one for one in account["things"]}


def lines_of(prof: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    main(["export", str(prof), "--explain"])
    return capsys.readouterr().out.splitlines()


def test_records_and_rows_are_those_of_files_made_by_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = lines_of(small(tmp_path), capsys)
    assert lines[0] == "PROF_1: chip 5 (A2), level 0; host, device_0"
    at = lines.index("table TASK: 2 rows")
    assert {
        "  task_track: host, 1 file, 64 bytes, 1 record",
        "  type_info_dic: host, 1 file, 36 bytes, 2 records",
        "  stars_soc: device_0, 1 file, 256 bytes, 4 records",
    } <= set(lines[at : at + 6])
    assert "table CANN_API: 1 row" in lines
    assert (
        "table HBM: absent; no file states whether what collects it was on; "
        "no raw file that it is made of is there" in lines
    )
    assert "  hbm: no hbm.data.0.slice_* in device_0" in lines
    assert "table UB: absent; A2 has no such data; 950 have it" in lines


@pytest.mark.parametrize(
    "name", some(["observed-everything", "inference-310p", "950-dense"], every=3)
)
def test_what_rows_are_made_of_was_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    things = explained(simulated(tmp_path, name, "--ranks", "1"), capsys)
    unread = [
        address
        for address, thing in things.items()
        if thing["rows"]
        and any(one["files"] for one in thing["sources"])
        and all(one["records"] is None for one in thing["sources"])
    ]
    assert unread == []


def test_every_table_is_explained_and_its_rows_are_those_of_the_database(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prof = simulated(tmp_path, "observed-everything", "--ranks", "1")
    out = tmp_path / "out"
    found = explained(prof, capsys, "-o", str(out))
    (database,) = out.glob("msprof_*.db")
    with closing(sqlite3.connect(database)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        for name, table in catalog().at(REVISION, "msprof").tables.items():
            if table.name in catalog().enums:
                continue
            one = found[f"table/{name}"]
            rows = 0
            if name in tables:
                (rows,) = connection.execute(f"SELECT count(*) FROM {name}").fetchone()
            assert one["rows"] == rows, name
            assert bool(one["reasons"]) == (rows == 0), name
    for path in (out / "mindstudio_profiler_output").glob("op_statistic_*.csv"):
        assert found["csv/op_statistic"]["rows"] == len(path.read_text().splitlines()) - 1
    (timeline,) = (out / "mindstudio_profiler_output").glob("msprof_2*.json")
    events = json.loads(timeline.read_text())
    (pid,) = {
        one["pid"]
        for one in events
        if one["name"] == "process_name" and one["args"]["name"] == "CANN"
    }
    count = sum(one["ph"] != "M" and one["pid"] == pid for one in events)
    assert found["layer/CANN"]["rows"] == count > 0


def test_a_switch_that_was_off_is_named_with_the_file_that_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = lines_of(simulated(tmp_path, "single-op"), capsys)
    at = next(n for n, line in enumerate(lines) if line.startswith("table MSTX_EVENTS: "))
    assert lines[at] == (
        "table MSTX_EVENTS: absent; what collects it was off; "
        "no raw file that it is made of is there"
    )
    assert lines[at + 2] == (
        "  switch msproftx (--msproftx, msprof_tx, mstx): off; "
        'sample.json of host: msproftx is "off"; sample.json of device_0: msproftx is "off"'
    )
    at = next(n for n, line in enumerate(lines) if line.startswith("table SAMPLE_PMU_SUMMARY: "))
    assert "what collects it was off" in lines[at]


def test_options_of_the_framework_state_switches_as_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = tmp_path / "host_1_20260101000000000_ascend_pt"
    prof = small(profile)
    (profile / "profiler_info_0.json").write_text(
        json.dumps({"config": {"experimental_config": {"_mstx": True, "_host_sys": ["mem"]}}})
    )
    found = explained(prof, capsys)
    (switch,) = found["table/MSTX_EVENTS"]["switches"]
    assert switch["on"] is True
    assert switch["stated"] == ["profiler_info_0.json: _mstx is true"]
    assert found["table/HOST_MEM_USAGE"]["switches"][0]["on"] is True
    assert found["table/CPU_USAGE"]["switches"][0]["on"] is False
    (profile / "profiler_info_0.json").write_text("[" * 100_000)
    assert explained(prof, capsys)["table/MSTX_EVENTS"]["switches"][0]["on"] is None


def test_a_file_that_is_gone_explains_what_is_made_of_it_and_what_refers_to_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prof = simulated(tmp_path, "single-op")
    for path in prof.glob("device_0/data/stars_soc.data.*"):
        path.unlink()
    found = explained(prof, capsys)
    sources = {one["kind"]: one for one in found["table/TASK"]["sources"]}
    assert found["table/TASK"]["rows"] == 0
    assert sources["stars_soc"]["files"] == 0
    assert sources["task_track"]["records"] == 3
    assert found["table/TASK"]["reasons"] == ["no row follows from its raw files that are there"]
    assert found["table/COMPUTE_TASK_INFO"]["needs"] == ["TASK"]
    assert found["table/COMPUTE_TASK_INFO"]["reasons"][-1] == (
        "it is about the rows of TASK, of which there are none"
    )


def test_what_is_damaged_stands_with_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prof = small(tmp_path)
    log = prof / "device_0" / "data" / "stars_soc.data.0.slice_0"
    log.write_bytes(log.read_bytes()[:-10])
    (prof / "device_0" / "dev_start.log.0").unlink()
    found = explained(prof, capsys)
    (source,) = (one for one in found["table/TASK"]["sources"] if one["kind"] == "stars_soc")
    assert source["records"] == 3
    assert any("byte 0: the first 54 bytes" in text for text in source["damage"]) or any(
        "byte 192: the last 54 bytes are no whole record" in text for text in source["damage"]
    )
    assert any("so 1 tasks have no times" in text for text in source["damage"])
    assert "  device_0: dev_start.log.0 is missing" in lines_of(prof, capsys)


@pytest.mark.parametrize(
    ("preset", "absent", "there"),
    [("cnn-910a", "table/ACC_PMU", "910A"), ("edge-310b", "table/ROCE", "200I-500-A2")],
)
def test_what_the_product_does_not_have_is_said_to_be_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], preset: str, absent: str, there: str
) -> None:
    found = explained(simulated(tmp_path, preset, "--ranks", "1"), capsys)
    one = found[absent]
    assert one["on_product"] is False
    assert there not in one["products"]
    (reason,) = one["reasons"]
    assert reason.startswith(f"{there} has no such data; ")


def test_files_of_the_framework_join_by_the_spec(tmp_path: Path) -> None:
    profile = tmp_path / "host_1_20260101000000000_ascend_pt"
    prof = small(profile)
    (profile / "FRAMEWORK").mkdir()
    (profile / "FRAMEWORK" / "torch.op_range").write_bytes(bytes(12))
    (raw,) = read_raw(prof)
    own = tuple(contexts(profile))
    account = explain(
        RawCapture(raw.folder, raw.capture, raw.damage, own), {}, REVISION, ["db"], "pytorch"
    )
    things = {one.address: one for one in account.things}
    sources = {one.kind: one for one in things["table/PYTORCH_API"].sources}
    assert sources["torch_op_range"].size == 12
    assert sources["torch_op_range"].records is None
    assert "this exporter does not read them" in things["table/PYTORCH_API"].reasons[0]
    assert account.folders == ("FRAMEWORK", "host", "device_0")


def test_files_of_the_framework_are_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows are those of the database; records those of the file, each with its head of 6 bytes."""
    assert main(["simulate", "single-op", "--as", "pytorch-raw", "-o", str(tmp_path / "run")]) == 0
    (profile,) = (tmp_path / "run").glob("*_ascend_pt")
    target = tmp_path / "exported"
    things = explained(profile, capsys, "-o", str(target))
    (path,) = target.rglob("ascend_pytorch_profiler_*.db")
    with closing(sqlite3.connect(path)) as database:
        (rows,) = database.execute("SELECT count(*) FROM PYTORCH_API").fetchone()
    assert things["table/PYTORCH_API"]["rows"] == rows > 0
    sources = {one["kind"]: one for one in things["table/PYTORCH_API"]["sources"]}
    content = (profile / "FRAMEWORK" / "torch.op_mark").read_bytes()
    marks, at = 0, 0
    while at < len(content):
        at += 6 + int.from_bytes(content[at + 2 : at + 6], "little")
        marks += 1
    assert sources["torch_op_mark"]["records"] == marks > 0
    (gone,) = things["table/OP_MEMORY"]["sources"]
    assert (gone["kind"], gone["files"]) == ("torch_memory_usage", 0)
    assert "off" in " ".join(things["table/OP_MEMORY"]["reasons"])


def test_an_unknown_chip_has_no_product(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prof = small(tmp_path)
    for path in prof.glob("*/info.json*"):
        path.write_text("{}")
    lines = lines_of(prof, capsys)
    assert lines[0].startswith("PROF_1: an unknown chip, level 0; ")
    assert not any("has no such data" in line for line in lines)


def test_nothing_is_kept_without_a_folder_and_the_same_is_said_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    prof = small(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    before = sorted(tmp_path.rglob("*"))
    assert lines_of(prof, capsys) == lines_of(prof, capsys)
    assert sorted(tmp_path.rglob("*")) == before


def test_rows_are_counted_below_a_folder_of_any_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "100%41? #1"
    found = explained(small(tmp_path), capsys, "--as", "db", "-o", str(out))
    assert found["table/TASK"]["rows"] == 2


def test_only_what_is_asked_for_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = explained(small(tmp_path), capsys, "--as", "csv")
    assert {address.partition("/")[0] for address in found} == {"csv"}


def test_databases_and_lonely_options_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prof = small(tmp_path)
    out = tmp_path / "out"
    assert main(["export", str(prof), "--as", "db", "-o", str(out)]) == 0
    for words, expected in (
        (["export", str(out), "--explain"], "--explain is for raw data, this is a database"),
        (["export", str(prof), "--json", "-o", "x"], "--json is for --explain"),
        (["export", str(prof)], "Missing option '-o'"),
    ):
        assert main(words) == 2
        assert expected in capsys.readouterr().err


def test_every_kind_of_file_that_feeds_anything_is_found_by_its_address() -> None:
    """The addresses of the spec are those that are explained."""
    schema = catalog().at(REVISION, "msprof").tables
    adapter = catalog().at(REVISION, "pytorch").tables
    for file in raw_catalog().files.values():
        for address in file.feeds:
            kind, _, name = address.partition("/")
            assert kind != "table" or name in schema or name in adapter, address


def test_layers_of_one_exporter_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A process for each group and core; the exporter in C++ has none of them."""
    scenario = tmp_path / "scenario.yaml"
    model = "model: {kind: single-operator, operator: MatMulV2, shape: [4096, 4096, 4096]}"
    scenario.write_text(f"{model}\nschedule: {{active: 1}}\ncapture: {{instr: 1000, mstx: true}}\n")
    prof = simulated(tmp_path, str(scenario))
    of_cpp = explained(prof, capsys, "--as", "timeline")
    assert of_cpp["layer/biu_group"]["reasons"] == [
        "the exporter cpp does not write it, python does"
    ]
    of_python = explained(prof, capsys, "--as", "timeline", "--writer", "python")
    # Two groups of a cube core and two vector cores, four quantities or six pipes each.
    cycles = of_python["layer/aic_core_group"]["rows"]
    assert of_python["layer/aiv_core_group"]["rows"] == 2 * cycles
    assert of_python["layer/biu_group"]["rows"] * 6 == cycles * 4
    assert of_python["layer/biu_group"]["reasons"] == []
    assert of_python["layer/MsTx"]["rows"] > 0


def test_the_writer_of_a_profile_of_the_framework_is_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "single-op", "--as", "pytorch-raw", "-o", str(tmp_path / "run")]) == 0
    words = ["export", str(tmp_path / "run"), "-o", str(tmp_path / "out"), "--writer", "python"]
    assert main(words) == 2
    assert "--writer is for databases and PROF_*" in capsys.readouterr().err
