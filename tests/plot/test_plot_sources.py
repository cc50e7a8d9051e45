"""A picture can be drawn from any deliverable that holds the data, and tells from which it is."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from plot_cases import ORIGIN, Run, event, microseconds, process, real, write_summary
from plot_cases import write_timeline as write_events

from ascend_ref.cli import main
from ascend_ref.db.carrier import carrier_of_name
from ascend_ref.recorded import from_database
from ascend_ref.timeline.write import write_timeline
from ascend_ref.tools.plot.draw import read
from ascend_ref.tools.plot.errors import CannotDraw
from ascend_ref.tools.plot.find import find
from ascend_ref.tools.plot.kinds import Kind
from ascend_ref.tools.plot.recording import Lane, Recording, Section
from ascend_ref.tools.plot.step import step_of

RUNS = [
    Run("AI_CORE", 0, 4_000, "MatMulV2"),
    Run("AI_VECTOR_CORE", 5_000, 2_000, "Add"),
    Run("COMMUNICATION", 6_000, 5_000, "hcom_allReduce__586_0_1", None),
]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ranks with two steps each."""
    folder = tmp_path_factory.mktemp("simulated") / "dense"
    command = ["simulate", "dense-8", "--ranks", "2", "--steps", "2", "-o", str(folder)]
    assert main(command) == 0
    return folder


def shown(recording: Recording) -> Counter[tuple[Lane, int]]:
    """How many bars of each kind each lane has."""
    bars = recording.bars
    return Counter(
        (recording.lanes[lane], kind)
        for lane, kind in zip(bars.lane.tolist(), bars.kind.tolist(), strict=True)
    )


def figures(recording: Recording, step: int | None) -> list[Any]:
    told = step_of(recording, step)
    return [*(part.total for part in told.overlap), told.start, told.end, told.prepared]


@pytest.mark.parametrize("output", ["pytorch", "msprof"])
def test_database_and_timeline_of_a_capture_give_the_same_lanes_and_figures(
    output: str, simulated: Path, tmp_path: Path
) -> None:
    folder = simulated
    if output == "msprof":
        folder = tmp_path / "msprof"
        command = ["simulate", "dense-8", "--ranks", "2", "--as", "msprof-db", "-o"]
        assert main([*command, str(folder)]) == 0
    database = read(folder)
    timelines = tmp_path / "timelines"
    timelines.mkdir()
    write_timeline(from_database(database.sources[0][0]), timelines)
    timeline = read(timelines)
    assert [path.suffix for path in timeline.sources[0]] == [".json"]
    assert timeline.recording.lanes == database.recording.lanes
    assert shown(timeline.recording) == shown(database.recording)
    assert timeline.recording.steps == database.recording.steps
    for step in timeline.recording.steps:
        assert figures(timeline.recording, step.number) == figures(database.recording, step.number)


def test_the_real_timeline_takes_types_and_cores_from_the_table_beside_it(tmp_path: Path) -> None:
    folder = real("text/pytorch_level1_rank0/ASCEND_PROFILER_OUTPUT")
    shutil.copy(folder / "trace_view.json", tmp_path)
    alone, both = read(tmp_path / "trace_view.json"), read(folder)
    assert [paths[0].name for paths in both.sources] == ["trace_view.json", "kernel_details.csv"]
    table = step_of(read(folder / "kernel_details.csv").recording, 50)
    for one, other in zip(step_of(both.recording, 50).operators, table.operators, strict=True):
        assert one[:3] == other[:3]
        assert one.total == pytest.approx(other.total, abs=50)  # the table's times are rounded
    assert not alone.recording.divided
    assert both.recording.divided
    assert both.recording.rank == 0
    assert alone.recording.lanes == both.recording.lanes
    streams = [lane.number for lane in both.recording.lanes if lane.section is Section.STREAM]
    planes = [lane.number for lane in both.recording.lanes if lane.section is Section.PLANE]
    assert (streams, planes) == ([2, 3, 4], list(range(8)))


def test_an_old_timeline_has_iterations_and_planes_without_a_group() -> None:
    told = read(real("text/mindspore_legacy/msprof_0_2_1.json")).recording
    assert [step.number for step in told.steps] == [1]
    assert Lane(Section.GROUP, "", -1) in told.lanes
    assert Lane(Section.PLANE, "", 3) in told.lanes
    step = step_of(told, 1)
    assert [one.name for one in step.operators][:2] == ["AllReduce", "FusedMulApplyMomentum"]


def test_group_labels_come_from_the_metadata_around(tmp_path: Path) -> None:
    output = tmp_path / "host_1_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    write_summary(output / "kernel_details.csv", RUNS)
    described = {"parallel_group_info": {"abc": {"group_name": "tp", "global_ranks": [0, 1]}}}
    (output.parent / "profiler_metadata.json").write_text(json.dumps(described))
    (output.parent / "profiler_info_7.json").write_text('{"rank_id": 7}')
    told = read(tmp_path)
    assert told.recording.groups == {"abc": "tp of 2 ranks"}
    assert told.found.ranks == (7,)
    assert told.found.name == f"{tmp_path.name}/host_1_ascend_pt"
    assert read(output).found.name == "host_1_ascend_pt"


def task_time(path: Path) -> Path:
    rows = ["Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us)"]
    for name, kind, start in (("Add_1", "AI_CORE", 0), ("N/A", "EVENT_WAIT", 5_000)):
        rows.append(f"0,{name},{kind},3,1,{microseconds(4_000)},{microseconds(ORIGIN + start)}\t")
    path.write_text("\n".join(rows))
    return path


def test_task_time_tells_no_communication(tmp_path: Path) -> None:
    told = read(task_time(tmp_path / "task_time_20260101000000.csv")).recording
    assert not told.communication
    kinds = shown(told)
    lane = Lane(Section.STREAM, "", 3)
    assert kinds == {(lane, Kind.CUBE): 1, (lane, Kind.WAIT): 1}


def test_step_trace_gives_a_table_of_tasks_its_steps(tmp_path: Path) -> None:
    write_summary(tmp_path / "op_summary_20260101000000.csv", RUNS)
    rows = ["Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us)"]
    for number, end in ((1, 4_500), (2, 12_000)):
        rows.append(f"0,{number},N/A,N/A,{microseconds(ORIGIN + end)}\t,{microseconds(4_500)}")
    # Some writers leave out the ends of rows.
    rows[1] += ",0"
    (tmp_path / "step_trace_20260101000000.csv").write_text("\n".join(rows))
    told = read(tmp_path).recording
    assert [(step.number, step.low - ORIGIN) for step in told.steps] == [(1, 0), (2, 7_500)]
    assert figures(told, 1)[:4] == [4_000, 0, 0, 0]


def test_steps_of_kernel_details_are_those_of_its_rows() -> None:
    path = real("text/msinsight_small/test_rank_0/kernel_details.csv")
    assert [step.number for step in read(path).recording.steps] == [2]


def test_all_slices_of_the_newest_export_are_drawn(tmp_path: Path) -> None:
    for number, run in enumerate(RUNS):
        write_summary(tmp_path / f"op_summary_slice_{number}_2026010100000{number}.csv", [run])
    write_summary(tmp_path / "op_summary_20251231000000.csv", [])
    told = read(tmp_path)
    assert [path.name[:18] for path in told.sources[0]] == [
        f"op_summary_slice_{number}" for number in range(3)
    ]
    assert len(told.recording.bars) == 3
    assert read(told.sources[0][1]).sources == told.sources


TIMELINE = [
    *process(32, "Ascend Hardware", "NPU 0", [(2, "Stream 2")]),
    *process(33, "Ascend Hardware", "NPU 1", [(2, "Stream 2")]),
    event(32, 2, "MatMul", 0, 5_000, args={"Task Type": "AI_CORE"}),
    event(33, 2, "Add", 1_000, 3_000, args={"Task Type": "AI_VECTOR_CORE"}),
]


def test_a_device_of_a_timeline_is_chosen_by_its_label(tmp_path: Path) -> None:
    path = write_events(tmp_path / "trace_view.json", TIMELINE)
    assert read(path).recording.devices == (0, 1)
    assert figures(read(path).recording, None)[0] == 5_000
    assert figures(read(path, device=1).recording, None)[0] == 3_000
    with pytest.raises(CannotDraw, match=r"trace_view.json: no device 4; expected one of 0, 1"):
        read(path, device=4)


def test_a_device_of_a_table_is_chosen_by_its_column(tmp_path: Path) -> None:
    runs = [Run("AI_CORE", 0, 4_000, device=3), Run("AI_CORE", 0, 7_000, device=5)]
    path = write_summary(tmp_path / "op_summary_1.csv", runs)
    assert figures(read(path).recording, None)[0] == 4_000
    assert figures(read(path, device=5).recording, None)[0] == 7_000


def test_a_rank_and_a_step_are_chosen_by_their_numbers(simulated: Path) -> None:
    assert read(simulated).found.ranks == (0, 1)
    assert read(simulated).recording.rank == 0
    other = read(simulated, rank=1)
    assert other.recording.rank == 1
    assert step_of(other.recording, None).number == 1
    assert step_of(other.recording, 2).number == 2


def test_a_device_of_a_database_is_chosen_by_its_column(simulated: Path, tmp_path: Path) -> None:
    (database,) = simulated.rglob("ascend_pytorch_profiler_0.db")
    path = Path(shutil.copy(database, tmp_path))
    with closing(sqlite3.connect(path)) as changed, changed:
        changed.execute("UPDATE TASK SET deviceId = 1 WHERE streamId = 4")
    for device, streams in ((0, [2]), (1, [4])):
        told = read(path, device=device).recording
        assert told.devices == (0, 1)
        found = [lane.number for lane in told.lanes if lane.section is Section.STREAM]
        assert found == streams


def test_further_profiles_of_a_folder_are_told(tmp_path: Path) -> None:
    for name in ("PROF_1", "PROF_2", "PROF_3"):
        folder = tmp_path / name / "mindstudio_profiler_output"
        folder.mkdir(parents=True)
        write_summary(folder / "op_summary_1.csv", RUNS)
    told = read(tmp_path)
    assert told.found.name == f"{tmp_path.name}/PROF_1"
    assert [one.folder.parent.name for one in told.found.alike] == ["PROF_2", "PROF_3"]


def make_all(folder: Path, simulated: Path) -> list[Path]:
    """One deliverable of each kind, the preferred first."""
    (database,) = simulated.rglob("ascend_pytorch_profiler_0.db")
    table = write_summary(folder / "op_summary_1.csv", RUNS)
    return [
        Path(shutil.copy(database, folder)),
        write_events(folder / "msprof_20260101.json", TIMELINE),
        table,
        task_time(folder / "task_time_1.csv"),
    ]


def test_the_deliverable_that_tells_most_is_preferred(simulated: Path, tmp_path: Path) -> None:
    for path in make_all(tmp_path, simulated):
        assert read(tmp_path).sources[0] == (path,)
        path.unlink()
    with pytest.raises(CannotDraw, match="nothing to draw here; expected msprof_"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("ascend_pytorch_profiler_1234567890.db", 1234567890),
        ("ascend_mindspore_profiler_3.db", 3),
        ("msmonitor_12_20250101000000123_5.db", 5),
    ],
)
def test_a_database_of_every_name_that_is_judged_is_drawn(
    name: str, rank: int, simulated: Path, tmp_path: Path
) -> None:
    assert carrier_of_name(name) != (None, None)
    database = next(path for path in simulated.rglob("*.db") if path.name != "analysis.db")
    shutil.copy(database, tmp_path / name)
    found = find(tmp_path, None)
    assert (found.chosen.paths, found.chosen.rank) == ((tmp_path / name,), rank)


def drop_times(path: Path) -> None:
    path.write_text(path.read_text().replace("Task Start Time(us)", "Start"))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


@pytest.mark.parametrize(
    ("name", "damage", "reason"),
    [
        ("op_summary_1.csv", drop_times, "line 1: columns of another file; expected kernel_d"),
        ("op_summary_1.csv", lambda path: path.write_bytes(b"\xff\0\n" * 9), "line 1: columns"),
        ("msprof_20260101.json", cut, "tail is missing, at byte"),
        ("msprof_20260101.json", lambda path: path.write_text("{}"), "expected a list of events"),
        ("ascend_pytorch_profiler_0.db", cut, "ascend_pytorch_profiler_0.db: "),
        ("ascend_pytorch_profiler_0.db", lambda path: path.write_text(""), "expected"),
    ],
)
def test_a_damaged_file_is_named_with_the_place(
    name: str, damage: Callable[[Path], None], reason: str, simulated: Path, tmp_path: Path
) -> None:
    make_all(tmp_path, simulated)
    damage(tmp_path / name)
    with pytest.raises(CannotDraw) as caught:
        read(tmp_path / name)
    assert name in str(caught.value)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_rows_without_sane_times_are_left_out_and_counted(tmp_path: Path) -> None:
    path = write_summary(tmp_path / "op_summary_1.csv", RUNS)
    text = path.read_text()
    bad = ["nan,1", "1,inf", "-5,1", "99999999999999999999999,1", "1,", "9" * 5000 + ",1"]
    path.write_text(text + "\n".join(f"0,2,A,A,AI_CORE,{times}" for times in bad))
    told = read(path).recording
    assert (len(told.bars), told.dropped) == (3, len(bad))


def test_names_that_look_like_patterns_are_files(tmp_path: Path) -> None:
    folder = tmp_path / "a[1]*?"
    folder.mkdir()
    write_summary(folder / "op_summary_1.csv", RUNS)
    write_summary(tmp_path / "op_summary_1.csv", RUNS[:1])
    assert len(read(folder).recording.bars) == 3


def test_the_operators_of_a_graph_and_of_aclnn_are_named_by_type(tmp_path: Path) -> None:
    names = ("Default/net/MatMul-op12", "aclnnAdd_AddAiCore_Add", "hcom_send__1_0_1", "odd name")
    events = [
        event(32, 2, name, 10_000 * place, 5_000 - place, args={"Task Type": "AI_CORE"})
        for place, name in enumerate(names)
    ]
    path = write_events(tmp_path / "trace_view.json", [*TIMELINE[:3], *events])
    operators = step_of(read(path).recording, None).operators
    assert [one.name for one in operators] == ["MatMul", "Add", "send", "odd name"]
