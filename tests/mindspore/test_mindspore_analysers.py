"""Analysers on files of real runs, of each day, and on damaged ones; their verb."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from analyser_plain import write_csv
from mindspore_real import parsed, real

from ascend_ref.cli import main
from ascend_ref.mindspore.analyse.condition import WrongCondition
from ascend_ref.mindspore.analyse.factory import (
    DOCUMENTS,
    KINDS,
    OF_RANKS,
    NoAnalyser,
    find_analyser,
    load_analyser,
)
from ascend_ref.mindspore.analyse.files import Folder
from ascend_spec import mindspore_catalog

NAMED_BY_THE_DOCUMENT = {
    "AicoreTypeAnalyser",
    "AicoreDetailAnalyser",
    "GpuOpTypeAnalyser",
    "GpuOpInfoAnalyser",
}


def query(folder: Path, name: str, filters: Any = None, generation: str = "G3m") -> Any:
    asked = {"filter_condition": filters} if filters else None
    return load_analyser(name, Folder(folder, "0"), generation).query(asked)


# --- the spec -------------------------------------------------------------------------------------


def test_m59_every_analyser_knows_its_files() -> None:
    catalog = mindspore_catalog()
    for one in catalog.analysers.values():
        assert set(one.reads) <= catalog.tables.keys(), one.analyser
        assert set(one.errata) <= catalog.errata.keys(), one.analyser
        assert one.upstream in (None, one.analyser.title().replace("_", "") + "Analyser")
        has_rows = one.answer == "rows" or one.analyser in OF_RANKS
        assert bool(one.columns) == has_rows, one.analyser
        assert bool(one.reason) == (one.answer == "undescribed"), one.analyser
        is_document = one.analyser in DOCUMENTS or one.analyser in OF_RANKS
        assert is_document == (one.answer == "document"), one.analyser
        shown_by = {column.shown_by for column in one.columns} - {None}
        assert shown_by <= {switch.name for switch in one.switches}
        for day in (one.since or "2020-06-20", "2022-01-01", "2023-08-01", "2025-06-02"):
            names = [column.name for column in one.columns_on(day)]
            assert len(names) == len(set(names)), one.analyser
    known = {one.upstream for one in catalog.analysers.values()}
    assert known >= NAMED_BY_THE_DOCUMENT


def test_m59_columns_are_those_of_the_files() -> None:
    catalog = mindspore_catalog()
    later = {"kernel_type", "kernel_name", "full_kernel_name", "full_kernel_time", "task_duration"}
    later |= {"computation", "collective_communication_time"}
    of_items = {"step", "op_side", "op_type", "op_name", "op_full_name", "dur", "shape_info"}
    of_items |= {"block_dim", "grid_dim"}
    for one in catalog.analysers.values():
        names = {column.name for table in one.reads for column in catalog.tables[table].columns}
        names |= of_items if one.analyser in KINDS else later
        for column in one.columns:
            assert set(column.takes) <= names, (one.analyser, column.name)


def test_m64_an_unknown_analyser_gets_a_suggestion() -> None:
    with pytest.raises(
        NoAnalyser, match=r"unknown analyser 'aicor_type'; did you mean aicore_type"
    ):
        find_analyser("aicor_type")
    with pytest.raises(NoAnalyser, match=r"parallel_strategy: cannot be asked. It lays out"):
        find_analyser("parallel_strategy")


# --- real runs ------------------------------------------------------------------------------------


def test_m65_steps_of_a_real_job(tmp_path: Path) -> None:
    source = real("mindinsight/JOB1")
    assert parsed(source, tmp_path / "out") == 0
    golden = real("mindinsight/profiler/step_trace_raw_0_detail_time.csv")
    header, *rows = (line.split(",") for line in golden.read_text("utf-8").split())
    answer = query(tmp_path / "out", "step_trace", {"step_id": 3})
    row = dict(zip(header, map(int, rows[2]), strict=True))
    assert answer["size"] == len(rows) - 1 == 20
    total, parts, *reductions = answer["training_trace_graph"]
    assert total == [{"name": "", "start": 0, "duration": round(row["total"] / 1e5, 4)}]
    assert [one["name"] for one in parts] == ["iteration_interval", "fp_and_bp", "tail"]
    assert [one["duration"] for one in parts] == [
        round(row[one] / 1e5, 4) for one in ("iteration_interval", "fp_and_bp", "tail")
    ]
    begins = [0, *(row[one] - row["start_point"] for one in ("fp_point", "bp_point"))]
    assert [one["start"] for one in parts] == [round(one / 1e5, 4) for one in begins]
    streams = {name.split("_")[1] for name in header if name.startswith("stream_")}
    assert len(reductions) == len(streams)
    for line in reductions:
        assert [bool(one["name"]) for one in line] == [place % 2 == 1 for place in range(len(line))]
        assert sum(one["duration"] for one in line) == pytest.approx(
            (row["end_point"] - row["fp_point"]) / 1e5, abs=1e-3
        )
    of_all = query(tmp_path / "out", "step_trace", {"mode": "proc", "proc_name": "tail"})
    place = header.index("tail")
    assert of_all["info"] == {"tail": [round(int(one[place]) / 1e5, 4) for one in rows[:-1]]}
    counts = {"mode": "proc", "proc_name": "tail", "time_type": "systime", "step_id": 0}
    assert query(tmp_path / "out", "step_trace", counts)["info"] == {"tail": [int(rows[-1][place])]}
    mean = dict(zip(header, rows[-1], strict=True))
    summary = of_all["summary"]
    assert summary["total_time"] == round(int(mean["total"]) / 1e5, 4)
    assert summary["tail_percent"] == f"{round(summary['tail'] / summary['total_time'] * 100, 2)}%"
    assert summary["total_steps"] == 20
    with pytest.raises(WrongCondition, match=r"must be in \[0, 20\], got 21"):
        query(tmp_path / "out", "step_trace", {"step_id": 21})
    with pytest.raises(WrongCondition, match="proc_name is needed"):
        query(tmp_path / "out", "step_trace", {"mode": "proc"})
    with pytest.raises(WrongCondition, match="unknown column 'tial'; did you mean tail"):
        query(tmp_path / "out", "step_trace", {"mode": "proc", "proc_name": "tial"})


def test_m67_the_pipeline_of_a_real_job(tmp_path: Path) -> None:
    assert parsed(real("mindinsight/JOB2"), tmp_path / "out") == 0
    raw = json.loads(real("mindinsight/JOB2/pipeline_profiling_0.json").read_bytes())
    answer = query(tmp_path / "out", "minddata_pipeline", {"is_display_op_detail": True})
    workers = {one["op_id"]: one["num_workers"] for one in raw["op_info"]}
    sizes = {
        one["op_id"]: (one["metrics"] or {}).get("output_queue", {}).get("size")
        for one in raw["op_info"]
    }
    assert answer["size"] == len(answer["object"]) > 1
    for row in answer["object"]:
        assert (row[2], row[3]) == (workers[row[0]], sizes[row[0]])


def test_m66_m69_kernels_of_a_real_job_twice(tmp_path: Path) -> None:
    assert parsed(real("mindspore/JOB_AICPU"), tmp_path / "out") == 0
    path = tmp_path / "out" / "aicpu_intermediate_0.csv"
    before = path.read_bytes(), path.stat().st_mtime_ns
    loaded = load_analyser("aicpu_detail", Folder(tmp_path / "out", "0"))
    first, again = loaded.query(), loaded.query()
    assert first == again
    assert sum(row[-1] for row in first["object"]) == len(before[0].splitlines()) - 1
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


# --- days -----------------------------------------------------------------------------------------

TYPES = [["Cast", "0.5", "2", "62.5"], ["MatMul", "0.3", "1", "37.5"]]


@pytest.mark.parametrize(
    ("day", "names", "row"),
    [
        (
            "2020-06-20",
            "op_type execution_time execution_frequency percent",
            ["Cast", 0.5, 2, 62.5],
        ),
        (
            "2022-07-01",
            "op_type execution_time execution_frequency percent",
            ["Cast", 500, 2, 62.5],
        ),
        ("2023-07-02", "op_type total_time execution_frequency percent", ["Cast", 500, 2, 62.5]),
        (
            "G3m",
            "kernel_type total_time execution_frequency total_percent avg_time",
            ["Cast", 500, 2, 62.5, 250],
        ),
    ],
)
def test_m60_names_and_units_are_those_of_the_day(
    day: str, names: str, row: list[Any], tmp_path: Path
) -> None:
    header = "op_type,execution_time,execution_frequency,percent"
    write_csv(tmp_path / "aicore_intermediate_0_type.csv", header, TYPES)
    for old in ("op_type", "kernel_type"):
        asked = {old: {"in": ["Cast"]}}
        answer = query(tmp_path, "aicore_type", asked, day)
        assert answer == {"col_name": names.split(), "object": [row], "size": 1}


@pytest.mark.parametrize("scale", [1, 100])
def test_m60_shares_are_percentages_whatever_the_file_has(scale: int, tmp_path: Path) -> None:
    header = "kernel_type,total_time,execution_frequency,percent"
    rows = [[*row[:3], float(row[3]) / scale] for row in TYPES]
    write_csv(tmp_path / "aicore_intermediate_0_type.csv", header, rows)
    assert [row[3] for row in query(tmp_path, "aicore_type")["object"]] == [62.5, 37.5]


def test_m61_a_file_without_frequencies_has_none(tmp_path: Path) -> None:
    header = "task_id,stream_id,block_dim,full_op_name,op_name,op_type,subgraph,op_info"
    framework = [[1, 2, 3, "Default/Cast-op1", "Cast-op1", "Cast", "Default", '{"input_0": {}}']]
    write_csv(tmp_path / "framework_raw_0.csv", header, framework)
    rows = [["Default/Cast-op1", "0.25"]]
    write_csv(tmp_path / "aicore_intermediate_0_detail.csv", "full_op_name,execution_time", rows)
    old = query(tmp_path, "aicore_detail", None, "2020-07-01")
    assert dict(zip(old["col_name"], old["object"][0], strict=True)) == {
        "op_name": "Cast-op1",
        "op_type": "Cast",
        "avg_execution_time": 0.25,
        "subgraph": "Default",
        "full_op_name": "Default/Cast-op1",
        "op_info": {"input_0": {}},
    }
    new = query(tmp_path, "aicore_detail")
    assert new["object"][0][1:5] == ["Cast-op1", "Cast", 250, None]


# --- files that are empty, missing or damaged -----------------------------------------------------


@pytest.mark.parametrize(
    "name", [one for one, fact in mindspore_catalog().analysers.items() if fact.answer == "rows"]
)
@pytest.mark.parametrize("content", [None, "", "header"])
def test_m54_a_file_without_rows_has_an_empty_answer(
    name: str, content: str | None, tmp_path: Path
) -> None:
    analyser = mindspore_catalog().analysers[name]
    table = mindspore_catalog().tables[analyser.reads[0]]
    if content is not None and table.form == "csv":
        header = ",".join(one.name for one in table.columns_on("2022-01-01"))
        path = tmp_path / table.names[-1].form.of(device="0")
        path.write_text(f"{header}\r\n" if content else "", encoding="utf-8")
    folder = Folder(tmp_path, "0")
    answer = load_analyser(name, folder).query({"group_condition": {"offset": 3}})
    assert (answer["object"], answer["size"], folder.damage) == ([], 0, [])
    assert answer["col_name"]


def test_m54_damaged_rows_are_left_out_and_stated(tmp_path: Path) -> None:
    path = tmp_path / "aicore_intermediate_0_type.csv"
    path.write_text(
        "op_type,total_time,execution_frequency,percent\n"
        "Cast,1,2,50\nMatMul,x,2,25\nAdd,1\nReLU,nan,1,20\nSub,1_0,1,5\n,2,0x1,7\n",
        encoding="utf-8",
    )
    folder = Folder(tmp_path, "0")
    answer = load_analyser("aicore_type", folder).query()
    assert [row[:3] for row in answer["object"]] == [["Cast", 1000, 2], ["Sub", 10000, 1]]
    assert [str(one) for one in folder.damage] == [
        f"{path}: line 4: too few cells",
        f"{path}: line 3: total_time is no number: 'x'",
        f"{path}: line 5: total_time is no number: 'nan'",
        f"{path}: line 7: execution_frequency is no number: '0x1'",
    ]


def test_m54_a_header_of_something_else_is_damage(tmp_path: Path) -> None:
    write_csv(tmp_path / "gpu_op_type_info_0.csv", "a,b", [[1, 2]])
    folder = Folder(tmp_path, "0")
    assert load_analyser("gpu_op_type", folder).query()["size"] == 0
    assert [one.message for one in folder.damage] == ["line 1: no column op_type"]


@pytest.mark.parametrize("content", ["", "{", "[1]", "null", '{"operator": 3}', "[" * 9999])
def test_m54_documents_of_any_kind_stop_nothing(content: str, tmp_path: Path) -> None:
    files = ["dynamic_shape_info", "minddata_cpu_utilization", "ascend_timeline_summary"]
    for table in files:
        (tmp_path / f"{table}_0.json").write_text(content, encoding="utf-8")
    (tmp_path / "step_trace_point_info_0.json").write_text(content, encoding="utf-8")
    for name in ("gpu_op_type_info", "minddata_cpu_utilization", "timeline", "step_trace"):
        folder = Folder(tmp_path, "0")
        assert load_analyser(name, folder).query() is not None
        assert bool(folder.damage) == (content in ("", "{") or content.startswith("[["))


@pytest.mark.parametrize(
    "document",
    [
        {"time_stamp": [1, "x"]},
        {"time_stamp": 3},
        {"device_info": {"idle_utilization": ["a"]}},
        {"process_info": [1]},
        {"op_info": [3]},
        {"op_info": {"a": 1}},
    ],
)
def test_m67_samples_that_are_no_numbers_are_damage(document: Any, tmp_path: Path) -> None:
    path = tmp_path / "minddata_cpu_utilization_0.json"
    path.write_text(json.dumps({"sampling_interval": 1, **document}), encoding="utf-8")
    folder = Folder(tmp_path, "0")
    assert load_analyser("minddata_cpu_utilization", folder).query() == {}
    assert [one.message for one in folder.damage] == ["samples that are no lists of numbers"]


@pytest.mark.parametrize("steps", [3, [], {"1": 3}, {"1": [3]}, {"1": [{"dur": [1]}]}])
def test_m62_steps_of_any_kind_stop_nothing(steps: Any, tmp_path: Path) -> None:
    document = {"operator": steps, "operator_type": {"1": 7}}
    path = tmp_path / "dynamic_shape_info_0.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    answer = query(tmp_path, "gpu_op_type_info")
    assert (answer["all_type"], answer["filter_type"]) == ([], {})


# --- the data pipeline ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lengths", "fetched", "slow"),
    [
        ([0, 0, 3, 3], [1, 1], "data_process"),
        ([0, 3, 3, 3], [0, 1], "data_transmission"),
        ([0, 3, 3, 3], [1, 1], "device_queue_warning"),
        ([3, 3, 3, 3], None, "device_queue_warning"),
        ([0, 0, 3, 3], None, "data_process"),
    ],
)
def test_m67_which_end_of_the_queue_is_slow(
    lengths: list[int], fetched: list[int] | None, slow: str, tmp_path: Path
) -> None:
    lines = (
        f"0 0 {step} 1\n0 1 {step} 2\n0 2 {step} 3\n1 3 {step} {one}\n"
        for step, one in reversed(list(enumerate(lengths, 1)))
    )
    (tmp_path / "device_queue_profiling_0.txt").write_text("".join(lines), encoding="utf-8")
    if fetched:
        text = "".join(f"GetNext_dequeue_wait 1000 3000 {one}\n" for one in fetched)
        (tmp_path / "minddata_aicpu_0.txt").write_text(text + "Other 1 2 0\n", encoding="utf-8")
    answer = query(tmp_path, "minddata")
    status = {name: one["status"] for name, one in answer["summary"].items() if "status" in one}
    assert [name for name, one in status.items() if one == "warning"] == [slow]
    queue = answer["queue"]["device_queue"]
    assert queue["info"]["queue"] == lengths
    counts = {"empty_queue": lengths.count(0), "full_queue": lengths.count(3)}
    assert queue["summary"] == {"queue_summary": counts}
    assert answer["time"]["device_queue"]["summary"] == {
        "time_summary": {"avg_cost": 3, "get_cost": 1, "push_cost": 2}
    }
    if fetched:
        assert answer["time"]["get_next"]["info"] == {"get_next": [2.0] * len(fetched)}


def test_m67_busy_cpus_by_step(tmp_path: Path) -> None:
    lists = {"user_utilization": [10, 20, 30], "idle_utilization": [90, 80, 60]}
    document = {
        "sampling_interval": 10,
        "cpu_processor_num": 4,
        "time_stamp": [0, 5, 20, 25],
        "device_info": lists,
        "process_info": {"user_utilization": [1, 2, 3]},
        "op_info": [
            {"op_id": 1, "metrics": {"user_utilization": [4, 4, 8]}},
            {"op_id": -1, "metrics": {"user_utilization": [1, 1, 1]}},
        ],
    }
    path = tmp_path / "minddata_cpu_utilization_0.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    queue = "1 4 7 2 10\n1 4 8 2 20\n"
    (tmp_path / "device_queue_profiling_0.txt").write_text(queue, encoding="utf-8")
    pipeline = "op_id,op_type,num_workers\r\n0,Batch,2\r\n1,Map,8\r\n"
    (tmp_path / "minddata_pipeline_raw_0.csv").write_text(pipeline, encoding="utf-8", newline="")
    answer = query(tmp_path, "minddata_cpu_utilization", {"start_step": 1})
    assert answer["step_info"] == ["2", "2"]
    assert answer["step_total_num"] == 2
    idle = {"metrics": [80, 60], "avg_value": 70}
    assert answer["device_info"]["idle_utilization"] == idle
    (operator,) = answer["op_info"]["op_list"]
    assert operator["metrics"]["user_utilization"] == {"metrics": [4, 8], "avg_value": 6}
    assert operator["num_workers"] == 8
    assert query(tmp_path, "minddata_cpu_utilization", {"start_step": 0})["step_info"][0] == 0


def test_m65_reductions_are_in_order_of_their_ends_and_gaps_may_be_none(tmp_path: Path) -> None:
    names = ["step_num", "start_point", "end_point", "total", "fp_point", "bp_point"]
    names += ["iteration_interval", "fp_and_bp", "tail"]
    values = [1, 100_000, 1_100_000, 1_000_000, 200_000, 900_000, 100_000, 700_000, 200_000]
    for number, (begin, end) in enumerate([(300_000, 800_000), (400_000, 500_000)]):
        own = f"stream_7_{number}_AllReduce"
        names += [own, f"{own}_start_point", f"{own}_end_point"]
        values += [end - begin, begin, end]
    rows = [values, ["-", *values[1:]]]
    write_csv(tmp_path / "step_trace_raw_0_detail_time.csv", ",".join(names), rows)
    answer = query(tmp_path, "step_trace", {"step_id": 1})
    (line,) = answer["training_trace_graph"][2:]
    assert line == [
        {"name": "", "start": 1.0, "duration": 2.0},
        {"name": "stream_7_1_AllReduce", "start": 3.0, "duration": 1.0},
        {},  # the first began before the second ended
        {"name": "stream_7_0_AllReduce", "start": 2.0, "duration": 5.0},
        {"name": "", "start": 7.0, "duration": 3.0},
    ]


def test_m62_types_of_a_step_are_shown_with_their_averages(tmp_path: Path) -> None:
    types = {name: [9, 8.5, number + 0.5] for number, name in enumerate("abcd")}
    later = {name: [9, 8.5, number + 7.5] for number, name in enumerate("abcd")}
    document = {
        "operator": {"1": [{"op_type": "a"}], "2": [{"op_type": "b"}]},
        "operator_type": {"1": types, "2": later},
    }
    (tmp_path / "dynamic_shape_info_0.json").write_text(json.dumps(document), encoding="utf-8")
    answer = query(tmp_path, "gpu_op_type_info")
    assert answer["all_type"] == ["a", "b", "c", "d"]
    assert answer["filter_type"] == {"a": [0.5, 7.5], "b": [1.5, 8.5], "c": [2.5, 9.5]}


def test_m67_fetches_on_a_gpu_are_in_ns(tmp_path: Path) -> None:
    lines = "GetNext_dequeue_wait 1000000 3000000 1\nGetNext_dequeue_wait 4000000 5000000 0\n"
    (tmp_path / "minddata_getnext_profiling_0.txt").write_text(lines, encoding="utf-8")
    answer = query(tmp_path, "minddata")
    assert answer["time"]["get_next"]["info"] == {"get_next": [2.0, 1.0]}
    assert answer["time"]["get_next"]["summary"] == {"time_summary": {"avg_cost": "1.5"}}
    assert answer["queue"]["get_next"]["info"] == {"queue": [1, 0]}


# --- the verb -------------------------------------------------------------------------------------


def test_m82_the_verb_shows_rows_and_states_damage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header = "op_type,total_time,execution_frequency,percent"
    rows = [*TYPES, ["Add", "0.1", "3", "0"]]
    inner = tmp_path / "profiler"
    inner.mkdir()
    write_csv(inner / "aicore_intermediate_7_type.csv", header, rows)
    verb = ["mindspore", "analyse", "aicore_type", str(tmp_path)]
    words = ["--where", "execution_frequency in 2,3", "--sort", "total_time:ascending"]
    assert main([*verb, *words, "--page", "0", "--limit", "1"]) == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines()[1].split() == ["Add", "100.0", "3", "0.0", "33.333"]
    assert shown.err == "1 of 2 rows\n"
    asked = json.dumps({"filter_condition": {"op_type": {"partial_match_str_in": ["MAT"]}}})
    assert main([*verb, "--condition", asked, "--json", "--device", "7"]) == 0
    assert json.loads(capsys.readouterr().out)["object"] == [["MatMul", 300.0, 1, 37.5, 300.0]]
    write_csv(inner / "aicore_intermediate_7_type.csv", header, [*rows, ["Sub", "x", 1, 1]])
    assert main(verb) == 1
    assert "line 5: total_time is no number: 'x'" in capsys.readouterr().err
    write_csv(inner / "aicore_intermediate_8_type.csv", header, rows)
    for more, reason in (
        ([], "files of devices 7, 8; name one by --device"),
        (["--device", "9"], "no file of device 9; there are 7, 8"),
        (["--device", "7", "--limit", "101"], "expected a whole number from 1 to 100"),
        (["--device", "7", "--where", "op_type = Cast"], "expected COLUMN, one of in, not_in"),
        (["--device", "7", "--set", "x"], "expected NAME=VALUE"),
        (["--device", "7", "--condition", "{"], "no JSON"),
        (["--device", "7", "--generation", "G9"], "unknown generation 'G9'"),
    ):
        assert main([*verb, *more]) == 2
        assert reason in " ".join(capsys.readouterr().err.split())


def test_m82_the_verb_takes_switches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = (
        "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail"
    )
    steps = ([n, 0, 100000, 100000, 10000, 50000, 10000, 40000, 50000] for n in (1, "-"))
    write_csv(tmp_path / "step_trace_raw_0_detail_time.csv", header, steps)
    words = ["--set", "mode=proc", "--set", "proc_name=tail", "--set", "step_id=1"]
    assert main(["mindspore", "analyse", "step_trace", str(tmp_path), *words]) == 0
    assert json.loads(capsys.readouterr().out)["info"] == {"tail": [0.5]}
