"""What parsers make of files that msprof exported, written by hand."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_ref.mindspore.convert.convert import convert
from ascend_ref.mindspore.folder import find_captures
from ascend_ref.mindspore.generation import find_generation
from ascend_ref.mindspore.parse.parse import INCOMPLETE, Parsed, parse
from ascend_ref.mindspore.verb import mindspore

LATE, EARLY, FULL = "2024-05-20", "2023-10-15", "2024-01-20"

TENSORS = '"8,16;16",FLOAT16;INT32,ND;FRACTAL_NZ,"8",FLOAT16,NC1HWC0'
NO_TENSORS = "N/A,N/A,N/A,N/A,N/A,N/A"
HEADER = (
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,"
    "Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Dim,Input Shapes,"
    "Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats"
)
ROWS = (
    f"0,1,7,2,Default/net/MatMul-op2,MatMul,static,AI_CORE,1000.5\t,10.0,1.5,8,{TENSORS}",
    f"0,1,8,2,Gradients/net/Cast-op1,Cast,static,AI_CORE,1020.0\t,4.0,0.5,4,{TENSORS}",
    f"0,1,9,3,Default/GetNext-op3,GetNext,static,AI_CPU,1030.0\t,2.0,3.0,1,{NO_TENSORS}",
    f"0,1,7,2,Default/net/MatMul-op2,MatMul,static,AI_CORE,1040.0\t,20.0,0.0,8,{TENSORS}",
    f"0,1,N/A,N/A,hcom_allReduce__1_0,hcom_allReduce_,N/A,HCCL,1065.0\t,5.0,0,0,{NO_TENSORS}",
)
STATISTIC = (
    "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio",
    "0,MatMul,AI_CORE,2,30.0,10,15,20,83.3",
    "0,GetNext,AI_CPU,1,2.0,2,2,2,5.5",
    "0,Cast,AI_CORE,1,4.0,4,4,4,11.1",
)
STEPS = (
    "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),"
    "FP to BP Time(us),Iteration Refresh(us),Data Aug Bound(us),Model ID",
    "0,1,1000.5\t,1024.0\t,1035.0\t,36.0,23.5,11.0,N/A,1",
    "0,2,1040.0\t,1060.0\t,1075.0\t,40.0,20.0,15.0,5.0,1",
    "0,3,0,0,2000.0\t,1.0,0,0,0,4294967295",
)


def write(path: Path, lines: tuple[str, ...]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))


def job(folder: Path, rows: tuple[str, ...] = ROWS, steps: tuple[str, ...] = STEPS) -> Path:
    output = folder / "PROF_000001_20240520000000000_ABC" / "mindstudio_profiler_output"
    write(output / "op_summary_20240520000000.csv", (HEADER, *rows))
    write(output / "op_statistic_20240520000000.csv", STATISTIC)
    write(output / "step_trace_20240520000000.csv", steps)
    return output


def parsed(source: Path, folder: Path, day: str | None = None) -> Parsed:
    (one,) = parse(source, folder, day)
    return one


def table(folder: Path, name: str) -> list[list[str]]:
    with (folder / name).open(newline="") as file:
        return list(csv.reader(file))


def test_m50_each_file_is_made_of_the_rows_of_the_export(tmp_path: Path) -> None:
    job(tmp_path / "job")
    out = tmp_path / "out"
    assert parsed(tmp_path / "job", out).damage == ()
    assert table(out, "aicore_intermediate_0_detail.csv") == [
        ["full_kernel_name", "task_duration", "execution_frequency", "task_type"],
        ["Default/GetNext-op3", "0.002", "1", "AI_CPU"],
        ["Default/net/MatMul-op2", "0.015", "2", "AI_CORE"],
        ["Gradients/net/Cast-op1", "0.004", "1", "AI_CORE"],
        ["hcom_allReduce__1_0", "0.005", "1", "HCCL"],
    ]
    header, *types = table(out, "aicore_intermediate_0_type.csv")
    assert header == ["kernel_type", "total_time", "execution_frequency", "percent"]
    assert [row[0] for row in types] == ["Cast", "GetNext", "MatMul"]
    assert [float(row[3]) for row in types] == pytest.approx([4 / 36, 2 / 36, 30 / 36])
    assert table(out, "aicpu_intermediate_0.csv")[1:] == [
        ["1", "GetNext", "0.005", "0.003", "0.002", "1.03", "1.035"]
    ]
    assert table(out, "output_timeline_data_0.txt") == [
        ["kernel_name", "stream_id", "start_time(us)", "duration(ms)"],
        ["Default/net/MatMul-op2", "2", "1.0005", "0.01"],
        ["Gradients/net/Cast-op1", "2", "1.02", "0.004"],
        ["Default/net/MatMul-op2", "2", "1.04", "0.02"],
    ]
    assert json.loads((out / "step_trace_point_info_0.json").read_text()) == {
        "fp_start": "Default/net/MatMul-op2",
        "bp_end": "Default/net/MatMul-op2",
    }


def test_m46_operators_have_their_scope_type_and_tensors(tmp_path: Path) -> None:
    job(tmp_path / "job")
    parsed(tmp_path / "job", tmp_path / "out")
    _, fetch, product, *_ = table(tmp_path / "out", "framework_raw_0.csv")
    full = "Default/net/MatMul-op2"
    assert product[:8] == ["7", "2", "0", full, full, "MatMul-op2", "MatMul", "Default"]
    assert product[9:] == ["1", "AI_CORE"]
    tensors = [("FRACTALNZ", "INT32", "16"), ("ND", "FLOAT16", "8,16"), ("NC1HWC0", "FLOAT16", "8")]
    keys = ("Input_1", "Input_0", "Output_0")
    assert json.loads(product[8]) == {
        key: dict(zip(("format", "data_type", "shape"), one, strict=True))
        for key, one in zip(keys, tensors, strict=True)
    }
    zero = {"format": "0", "data_type": "0", "shape": "0"}
    assert json.loads(fetch[8]) == {"Input_0": zero, "Output_0": zero}


def test_m47_steps_are_those_of_graphs_and_the_last_row_their_mean(tmp_path: Path) -> None:
    job(tmp_path / "job")
    parsed(tmp_path / "job", tmp_path / "out")
    _, first, second, mean = table(tmp_path / "out", "step_trace_raw_0_detail_time.csv")
    wanted = [100050, 103500, 3600, 100050, 102400, 0, 2350, 1100]
    assert [int(one) for one in first[1:]] == pytest.approx(wanted, abs=1)
    assert [first[0], second[0], mean[0]] == ["1", "2", "-"]
    both = zip(first[1:], second[1:], strict=True)
    assert [int(one) for one in mean[1:]] == [(int(a) + int(b)) // 2 for a, b in both]


def test_m47_where_operators_are_of_two_graphs_iterations_of_none_are_steps(tmp_path: Path) -> None:
    other = ROWS[0].replace("0,1,7", "0,2,7", 1)
    job(tmp_path / "job", (*ROWS, other))
    parsed(tmp_path / "job", tmp_path / "out")
    _, *rows = table(tmp_path / "out", "step_trace_raw_0_detail_time.csv")
    # The only step and the average are one row (M50).
    assert [row[0] for row in rows] == ["-", "-"]
    assert rows[0] == rows[1]
    assert rows[0][2] == "200000"


@pytest.mark.parametrize(
    ("folder", "names", "start", "day"),
    [
        ("mindstudio_profiler_output", "{}_20240520000000.csv", "(us)", "2025-06-02"),
        ("device_0/summary", "{}_20240120000000.csv", "(us)", "2024-03-07"),
        ("device_0/summary", "{}_0_1_1.csv", "(us)", "2024-03-07"),
        ("device_0/summary", "{}_0_1_1.csv", "", "2023-09-05"),
    ],
)
def test_m51_names_places_and_columns_show_the_day(
    tmp_path: Path, folder: str, names: str, start: str, day: str
) -> None:
    place = tmp_path / "PROF_1" / folder
    header = HEADER.replace("Time(us)", f"Time{start}", 1)
    write(place / names.format("op_summary"), (header, *ROWS))
    (capture,) = find_captures(tmp_path)
    written = find_generation(capture)
    assert (written.generation.id, written.day, written.contradicts) == ("G3m", day, ())


def test_m51_files_of_iterations_are_read_one_after_the_other(tmp_path: Path) -> None:
    place = tmp_path / "PROF_1" / "device_3" / "summary"
    write(place / "op_summary_3_1_10.csv", (HEADER, ROWS[1]))
    write(place / "op_summary_3_1_2.csv", (HEADER, ROWS[0]))
    parsed(tmp_path, tmp_path / "out", EARLY)
    _, *rows = table(tmp_path / "out", "output_timeline_data_3.txt")
    assert [row[0] for row in rows] == ["Default/net/MatMul-op2", "Gradients/net/Cast-op1"]


def test_m51_of_several_exports_the_newest_counts(tmp_path: Path) -> None:
    output = job(tmp_path / "job")
    write(output / "op_summary_20240601000000.csv", (HEADER, ROWS[1]))
    parsed(tmp_path / "job", tmp_path / "out")
    assert len(table(tmp_path / "out", "aicore_intermediate_0_detail.csv")) == 2


def test_m51_names_of_columns_changed_on_a_day(tmp_path: Path) -> None:
    job(tmp_path / "job")
    place = tmp_path / "job" / "PROF_1" / "device_0" / "summary"
    write(place / "op_summary_20240120000000.csv", (HEADER, *ROWS))
    for day, name in (("2024-01-10", "full_op_name"), ("2024-01-11", "full_kernel_name")):
        (one, _) = parse(tmp_path / "job", tmp_path / day, day)
        assert table(one.files[0].parent, one.files[0].name)[0][0] == name


@pytest.mark.parametrize("gone", ["op_summary", "op_statistic", "step_trace"])
def test_m52_what_is_absent_leaves_the_rest(tmp_path: Path, gone: str) -> None:
    output = job(tmp_path / "job")
    next(output.glob(f"{gone}_*")).unlink()
    names = {one.name for one in parsed(tmp_path / "job", tmp_path / "out").files}
    assert ("aicore_intermediate_0_type.csv" in names) == (gone != "op_statistic")
    assert ("framework_raw_0.csv" in names) == (gone != "op_summary")
    assert ("step_trace_raw_0_detail_time.csv" in names) == (gone == "op_statistic")


@pytest.mark.parametrize(
    ("name", "old", "new", "says"),
    [
        ("op_summary", "Task Type", "Kind", "line 1: no column 'Task Type'"),
        ("op_summary", ",10.0,", ",ten,", "line 2: Task Duration(us) is no number: 'ten'"),
        ("op_summary", "Cast,static", "Cast", "line 3: too few cells"),
        ("op_statistic", "2,30.0", "x,30.0", "line 2: Count is no number: 'x'"),
        ("step_trace", "1035.0", "inf", "line 2: 'inf"),
        ("step_trace", "Model ID", "Model", "line 1: no column 'Model ID'"),
    ],
)
def test_m52_what_is_damaged_is_stated_and_the_rest_is_made(
    tmp_path: Path, name: str, old: str, new: str, says: str
) -> None:
    output = job(tmp_path / "job")
    path = next(output.glob(f"{name}_*"))
    path.write_text(path.read_text().replace(old, new, 1))
    found = CliRunner().invoke(
        mindspore,
        ["parse", str(tmp_path / "job"), "-o", str(tmp_path / "out")],
        standalone_mode=False,
    )
    assert (found.return_value, found.exception) == (1, None)
    text = (tmp_path / "out" / INCOMPLETE).read_text()
    assert f"{path}: {says}" in text
    made = {one.name for one in (tmp_path / "out").iterdir()}
    assert made & {"framework_raw_0.csv", "aicore_intermediate_0_type.csv"}


@settings(max_examples=20, deadline=None)
@given(
    name=st.sampled_from(["op_summary", "op_statistic", "step_trace"]),
    place=st.floats(0, 1, exclude_max=True),
    content=st.binary(max_size=12)
    | st.sampled_from([b"\n", b'"', b",", b"\0", b"9" * 400, b"nan"]),
)
def test_m52_any_bytes_end_in_files_or_damage(
    tmp_path_factory: pytest.TempPathFactory, name: str, place: float, content: bytes
) -> None:
    folder = tmp_path_factory.mktemp("hostile")
    path = next(job(folder / "job").glob(f"{name}_*"))
    was = path.read_bytes()
    at = int(place * len(was))
    path.write_bytes(was[:at] + content + was[at + len(content) :])
    for day in (None, EARLY, FULL):
        parsed(folder / "job", folder / str(day), day)


def test_m52_operators_without_formats_have_empty_ones(tmp_path: Path) -> None:
    job(tmp_path / "job", (ROWS[0].replace("FLOAT16;INT32,ND;FRACTAL_NZ", "FLOAT16,ND"),))
    parsed(tmp_path / "job", tmp_path / "out")
    _, row = table(tmp_path / "out", "framework_raw_0.csv")
    assert json.loads(row[8])["Input_1"] == {"format": "", "data_type": "", "shape": "16"}


def test_conversion_takes_the_export_where_the_log_is_gone(tmp_path: Path) -> None:
    job(tmp_path / "job")
    (one,) = convert(tmp_path / "job", tmp_path / "out", ["text"])
    path = next(one.profile.rglob("kernel_details.csv"))
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = [row["Name"].rpartition("/")[2] for row in rows]
    assert sorted(names) == ["Cast-op1", "GetNext-op3", "MatMul-op2", "MatMul-op2"]
    times = {(row["Start Time(us)"].strip(), float(row["Duration(us)"])) for row in rows}
    assert ("1000.500", 10.0) in times
    assert any("communication" in line for line in one.lost)


def event(name: str, start: float, length: float, **args: object) -> dict[str, object]:
    own = {"name": name, "pid": 9, "tid": 1, "ts": str(start), "dur": length, "ph": "X"}
    return {**own, "args": {"model id": 1, **args}} if args else own


def moved(
    start: float, length: float, task: str, size: int, target: int, transport: str = "SDMA"
) -> dict[str, object]:
    ranks = {"src rank": 0, "dst rank": target, "transport type": transport, "size(Byte)": size}
    return event(task.replace(" ", "_"), start, length, **{"task type": task}, **ranks)


def timeline(output: Path, *events: dict[str, object]) -> None:
    process = {"name": "process_name", "pid": 9, "tid": 0, "args": {"name": "HCCL"}, "ph": "M"}
    path = output / "msprof_20240520000000.json"
    path.write_text(json.dumps([process, *events]))


def test_m50_communication_is_of_the_parts_of_each_step(tmp_path: Path) -> None:
    output = job(tmp_path / "job")
    timeline(
        output,
        event("hcom_allReduce__1_0", 1010.0, 20.0, connection=1),
        moved(1011.0, 4.0, "Memcpy", 8000, 1),
        moved(1016.0, 2.0, "Reduce Inline", 4000, 1),
        moved(1019.0, 1.5, "Notify Wait", 0, 1),
        moved(1021.0, 0.5, "Notify Record", 0, 1),
        moved(1500.0, 9.0, "Memcpy", 1, 1),
    )
    assert parsed(tmp_path / "job", tmp_path / "out").damage == ()
    header, step, average = table(tmp_path / "out", "hccl_raw_0.csv")
    assert header[:3] == ["step_num", "communication_cost", "wait_cost"]
    assert [step[0], float(step[1]), float(step[2])] == ["1", 6.5, 1.5]
    ((link, kinds),) = json.loads(step[3]).items()
    assert (link, kinds["SDMA"]) == ("0-1", pytest.approx([0.006, 12.0, 2.0]))
    ((name, row),) = json.loads(step[4]).items()
    assert (name, row[:3]) == ("hcom_allReduce__1_0", ["1", 6.0, 1.5])
    # The average is the last step (M51).
    assert average[:4] == ["-", *step[1:4]]


def sent(*parts: tuple[str, float], **more: object) -> list[dict[str, object]]:
    """Parts over RDMA of one collective, one after the other."""
    found: list[dict[str, object]] = [event("hcom_send__1_0", 1010.0, 20.0, connection=1)]
    for at, (task, length) in enumerate(parts):
        one = moved(1011.0 + at, length, task, 2000, 1, transport="RDMA")
        found.append({**one, **more})
    return found


SENT = {"model id": 1, "task type": "RDMASend", "transport type": "RDMA", "dst rank": 1}


def rdma_of(folder: Path) -> object:
    _, step, _ = table(folder, "hccl_raw_0.csv")
    return json.loads(step[3])["0-1"]["RDMA"]


def test_m50_two_sends_and_a_wait_are_a_transfer(tmp_path: Path) -> None:
    output = job(tmp_path / "job")
    three = ("RDMASend", 1.0), ("RDMASend", 2.0), ("Notify Wait", 5.0)
    timeline(output, *sent(*three, ("RDMASend", 7.0)))
    parsed(tmp_path / "job", tmp_path / "one")
    assert rdma_of(tmp_path / "one") == [[0.008, 4.0, 4.0 / 8e-6, 0.005]]
    timeline(output, *sent(*three), *sent(*three, tid=2)[1:])
    parsed(tmp_path / "job", tmp_path / "two")
    assert rdma_of(tmp_path / "two") == pytest.approx([0.016, 8.0, 2 * 4.0 / 8e-6, 0.01])


def test_m52_a_transfer_without_a_length_has_no_bandwidth(tmp_path: Path) -> None:
    output = job(tmp_path / "job")
    timeline(output, *sent(("RDMASend", 0.0), ("RDMASend", 0.0), ("Notify Wait", 0.0)))
    parsed(tmp_path / "job", tmp_path / "out")
    assert rdma_of(tmp_path / "out") == [[0, 4.0, 0, 0]]


@pytest.mark.parametrize(
    "more",
    [
        {"tid": [1]},
        {"tid": "a"},
        {"ts": "nan"},
        {"dur": "inf"},
        {"dur": "nan"},
        {"ts": 10**400},
        {"args": {"model id": 7}},
        {"args": {**SENT, "size(Byte)": "f" * 400}},
        {"args": {"model id": 1, "size(Byte)": 1 << 80, "transport type": "SDMA"}},
    ],
)
def test_m52_values_that_no_event_has_end_no_parser(
    tmp_path: Path, more: dict[str, object]
) -> None:
    output = job(tmp_path / "job")
    three = ("RDMASend", 1.0), ("RDMASend", 2.0), ("Notify Wait", 5.0)
    timeline(output, *sent(*three), {**sent(*three)[1], **more})
    assert parsed(tmp_path / "job", tmp_path / "out").damage == ()
    assert json.dumps(rdma_of(tmp_path / "out")).count("NaN") == 0


@pytest.mark.parametrize("time", ["nan", "inf", "1e400", [], None])
def test_m52_a_scope_without_a_time_is_in_no_layer(tmp_path: Path, time: object) -> None:
    output = job(tmp_path / "job")
    sound = event("Default/net/a/Add-op1", 10.0, 2.0)
    timeline(output, sound, {**event("Default/net/b/Add-op2", 14.0, 2.0), "ts": time}, sound)
    parsed(tmp_path / "job", tmp_path / "out")
    shown = json.loads((tmp_path / "out" / "ascend_timeline_display_0.json").read_text())
    assert [one["name"] for one in shown if one.get("pid") == 4 and one["ph"] == "X"] == [
        *("Default", "net", "a"),
    ]


def test_m50_the_time_line_has_a_layer_for_each_depth_of_scopes(tmp_path: Path) -> None:
    output = job(tmp_path / "job")
    given = [
        event("Default/net/a/Add-op1", 10.0, 2.0),
        event("Default/net/a/Mul-op2", 13.0, 2.0),
        event("Default/net/b/Add-op3", 20.0, 1.0),
        event("aclnnAdd", 30.0, 1.0),
    ]
    timeline(output, *given)
    parsed(tmp_path / "job", tmp_path / "out")
    path = tmp_path / "out" / "ascend_timeline_display_0.json"
    shown = json.loads(path.read_text())
    assert shown[1:5] == given
    layers = [
        (one["tid"], one["name"], one["ts"], one["dur"])
        for one in shown[5:]
        if one["ph"] == "X" and one["pid"] == 4
    ]
    assert sorted(layers) == [
        (0, "Default", "10.000", 11.0),
        (1, "net", "10.000", 11.0),
        (2, "a", "10.000", 5.0),
        (2, "b", "20.000", 1.0),
    ]
    threads = [one["args"]["name"] for one in shown if one["name"] == "thread_name"]
    assert threads == ["layer0", "layer1", "layer2"]
    summary = json.loads((tmp_path / "out" / "ascend_timeline_summary_0.json").read_text())
    assert summary == {
        "total_time": pytest.approx(0.041),
        **{"num_of_streams": 3, "num_of_ops": 4, "op_exe_times": 5, "max_scope_name_num": 3},
    }


@pytest.mark.parametrize("text", ["{", "[1]", "{}", '[{"ph": "X"}]', "[" * 9000, ""])
def test_m52_a_time_line_that_is_otherwise_is_stated_or_empty(tmp_path: Path, text: str) -> None:
    output = job(tmp_path / "job")
    (output / "msprof_20240520000000.json").write_text(text)
    found = parsed(tmp_path / "job", tmp_path / "out")
    assert any("msprof_20240520000000.json" in one for one in found.damage) != (text[:2] == "[{")
    assert "framework_raw_0.csv" in {one.name for one in found.files}
