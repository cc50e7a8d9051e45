"""Profiles of the present generation that are made of captures of older ones."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
import struct
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mindspore_captures import write_capture
from mindspore_real import parsed, real
from slices import marked, some

from ascend_conformance.check import check
from ascend_ref.cli import main
from ascend_ref.mindspore.convert.convert import LOST, Converted, convert
from ascend_ref.raw.damage import Unreadable
from ascend_simulator.mindspore.jobs import of_mindspore
from ascend_simulator.run import simulate, write_run
from ascend_simulator.scenario import preset

TICK = 10
"""ns."""

Run = tuple[int, int]
"""Stream and task."""


def rows(profile: Path, query: str) -> list[tuple[Any, ...]]:
    """Of the one database of a rank below a folder."""
    (database,) = profile.rglob("ascend_mindspore_profiler_*.db")
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(query).fetchall()


def converted(source: Path, target: Path, *options: str) -> int:
    """The exit code of ``ascend-ref mindspore convert``."""
    return main(["mindspore", "convert", str(source), "-o", str(target), *options])


def executions(log: bytes) -> list[tuple[int, int, Run]]:
    """Start, end, stream and task of all tasks of a log, record by record."""
    begun: dict[Run, int] = {}
    found = []
    for place in range(0, len(log), 64):
        head, task, tick, stream = struct.unpack_from("<B5xHQI", log, place)
        if head & 7 == 0:
            begun[stream, task] = tick
        elif head & 7 == 1 and (stream, task) in begun:
            found.append((begun.pop((stream, task)), tick, (stream, task)))
    return sorted(found)


def test_every_task_of_the_real_log_is_a_row(tmp_path: Path) -> None:
    job = real("mindinsight/JOB3")
    log = next(job.glob("hwts*")).read_bytes()
    assert converted(job, tmp_path / "out", "--as", "db") == 0
    found = rows(
        tmp_path / "out", "SELECT startNs, endNs, streamId, taskId FROM TASK ORDER BY rowid"
    )
    expected = executions(log)
    assert len(found) == len(expected) == 31_385
    zero = found[0][0] - expected[0][0] * TICK
    assert Counter((start, end, (stream, task)) for start, end, stream, task in found) == Counter(
        (zero + start * TICK, zero + end * TICK, run) for start, end, run in expected
    )
    # The host's clock at the start of the collection (host_start.log.1).
    assert found[0][0] == 1591183963784568740


def test_operators_of_the_real_log_take_as_long_as_upstream_says(tmp_path: Path) -> None:
    job = real("mindinsight/JOB3")
    golden = real("mindinsight/run_1/normal_run/profiler/output_op_compute_time_1.txt")
    expected = {
        words[0]: float(words[1])
        for line in golden.read_text().splitlines()[3:-1]
        if (words := line.split())
    }
    converted(job, tmp_path / "out", "--as", "db")
    lengths = defaultdict(list)
    for name, start, end in rows(
        tmp_path / "out",
        "SELECT s.value, t.startNs, t.endNs FROM TASK t JOIN COMPUTE_TASK_INFO c "
        "ON c.globalTaskId = t.globalTaskId JOIN STRING_IDS s ON s.id = c.name",
    ):
        if name in expected:
            lengths[name].append((end - start) / 1e6)
    assert sum(map(len, lengths.values())) == 2817
    means = {name: sum(values) / len(values) for name, values in lengths.items()}
    assert means.keys() == expected.keys()
    for name, value in expected.items():
        assert means[name] == pytest.approx(value, rel=1e-12)


@pytest.mark.exhaustive
@pytest.mark.parametrize("folder", ["mindspore", marked("mindinsight", pytest.mark.exhaustive)])
def test_what_is_made_of_real_captures_passes_the_check(tmp_path: Path, folder: str) -> None:
    assert converted(real(folder), tmp_path / "out") == 0
    report = check([tmp_path / "out"])
    assert [one for one in report.findings if _fails(one)] == []


def test_the_kernels_of_a_real_ai_cpu_keep_their_times(tmp_path: Path) -> None:
    source = real("mindspore/JOB_AICPU/data/DATA_PREPROCESS.AICPU.0.slice_0").read_bytes()
    converted(real("mindspore/JOB_AICPU"), tmp_path / "out", "--as", "db")
    found = rows(tmp_path / "out", "SELECT startNs, endNs, streamId, taskId FROM TASK")
    expected = []
    for place in range(0, len(source), 128):
        stream, task = struct.unpack_from("<HH", source, place + 4)
        start, end = (struct.unpack_from("<Q", source, place + at)[0] for at in (16, 56))
        expected.append((start * TICK, end * TICK, stream, task))
    zero = found[0][0] - min(expected)[0]
    assert sorted((zero + start, zero + end, *rest) for start, end, *rest in expected) == sorted(
        found
    )


def test_a_capture_without_a_clock_stands_at_the_day_of_its_generation(tmp_path: Path) -> None:
    (one,) = convert(_drawn(tmp_path, 1), tmp_path / "out", ["db"], "2020-07-01")
    assert any("2020-07-01" in line for line in one.lost)
    (first,) = rows(one.profile, "SELECT min(startNs) FROM TASK")
    assert first == (1593561600 * 10**9,)
    assert (one.profile / LOST).read_text().splitlines() == list(one.lost)


def test_the_clock_of_the_device_is_taken(tmp_path: Path) -> None:
    job = _drawn(tmp_path, 2)
    (job / "dev_start.log.0").write_text(
        "[Device0]\nclock_realtime: 1600000000000000000\ncntvct: 1000\n"
    )
    (one,) = convert(job, tmp_path / "out", ["db"])
    log = b"".join(path.read_bytes() for path in sorted(job.rglob("hwts*"), key=_slice))
    first = min(start for start, _, _ in executions(log))
    found = rows(one.profile, "SELECT min(startNs) FROM TASK")
    assert found == [(1600000000000000000 + (first - 1000) * TICK,)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("generation", ["G1", "G2", "G3"])
@pytest.mark.parametrize("seed", some([0, 5], every=2))
def test_a_simulated_capture_keeps_its_operators(
    tmp_path: Path, generation: str, seed: int
) -> None:
    one = _simulated(tmp_path, generation, seed)
    capture = simulate(_graph(), seed).capture(0)
    texts, kinds = capture.texts.all, capture.kernel_kinds
    expected: Counter[tuple[str, int]] = Counter()
    row = {int(number): place for place, number in enumerate(capture.tasks.identity)}
    for task, kind in zip(
        capture.kernels.task.tolist(), capture.kernels.kind.tolist(), strict=True
    ):
        place = row[task]
        length = int(capture.tasks.end[place] - capture.tasks.start[place])
        if texts[kinds.core[kind]] != "AI_CPU":
            expected[texts[kinds.op_type[kind]], round(length / TICK)] += 1
    found = Counter(
        (op_type, round((end - start) / TICK))
        for op_type, start, end in rows(
            one.profile,
            "SELECT s.value, t.startNs, t.endNs FROM TASK t JOIN COMPUTE_TASK_INFO c "
            "ON c.globalTaskId = t.globalTaskId JOIN STRING_IDS s ON s.id = c.opType "
            "JOIN STRING_IDS k ON k.id = c.taskType "
            "WHERE k.value != 'AI_CPU' AND s.value != 'N/A'",
        )
    )
    # A start and an end are rounded to ticks, each by itself.
    assert sum(found.values()) == sum(expected.values()) > 0
    assert _types(found) == _types(expected)
    assert abs(_ticks(found) - _ticks(expected)) <= sum(expected.values())


def test_intermediate_files_give_the_executions_of_their_operators(tmp_path: Path) -> None:
    job = real("mindinsight/JOB3")
    assert parsed(job, tmp_path / "parsed") == 0
    assert converted(job, tmp_path / "raw", "--as", "db") == 0
    assert converted(tmp_path / "parsed", tmp_path / "made", "--as", "db") == 0
    query = (
        "SELECT s.value, t.startNs, t.endNs - t.startNs, t.streamId, t.taskId FROM TASK t "
        "JOIN COMPUTE_TASK_INFO c ON c.globalTaskId = t.globalTaskId "
        "JOIN STRING_IDS s ON s.id = c.name ORDER BY t.startNs, s.value"
    )
    made = rows(tmp_path / "made", query)
    names = {one[0] for one in made}
    of_raw = [one for one in rows(tmp_path / "raw", query) if one[0] in names]
    assert len(made) == len(of_raw) == 2817
    first = [found[0][1] for found in (of_raw, made)]
    assert [(one[0], one[1] - first[1], *one[2:3], one[4]) for one in made] == [
        (one[0], one[1] - first[0], *one[2:3], one[4]) for one in of_raw
    ]


def test_steps_stay_in_order_and_keep_their_length(tmp_path: Path) -> None:
    golden = real("mindinsight/profiler/step_trace_raw_0_detail_time.csv")
    with golden.open(newline="") as file:
        expected = [
            tuple(int(row[name]) for name in ("start_point", "fp_point", "bp_point", "end_point"))
            for row in csv.DictReader(file)
            if row["step_num"] != "-"
        ]
    converted(real("mindinsight/JOB1"), tmp_path / "out", "--as", "text")
    (path,) = (tmp_path / "out").rglob("step_trace_*.csv")
    with path.open(newline="") as file:
        found = list(csv.DictReader(file))
    assert len(found) == len(expected) == 20
    for row, (start, forward, backward, end) in zip(found, expected, strict=True):
        assert float(row["FP to BP Time(us)"]) == pytest.approx((backward - forward) / 100)
        assert float(row["Iteration Time(us)"]) == pytest.approx((end - start) / 100)


def test_traces_of_communication_become_collectives(tmp_path: Path) -> None:
    folder = tmp_path / "JOB" / "hccl_info" / "allReduce_1_1"
    folder.mkdir(parents=True)
    events = [
        _event("Notify Record", 100.25, 0.26, 0, 1, "SDMA", None),
        _event("Notify Wait", 101.0, 2.5, 1, 0, "LOCAL", None),
        _event("Memcpy", 104.0, 10.75, 1, 0, "SDMA", "0x400"),
        _event("Reduce Inline", 115.0, 1.0, 4294967295, 0, "SDMA", 2048),
    ]
    (folder / "iter1.trace").write_text(json.dumps({"traceEvents": events}))
    (one,) = convert(tmp_path / "JOB", tmp_path / "out", ["db"])
    found = rows(
        one.profile,
        "SELECT n.value, t.endNs - t.startNs, c.srcRank, c.dstRank, c.size, p.name "
        "FROM COMMUNICATION_TASK_INFO c JOIN TASK t ON t.globalTaskId = c.globalTaskId "
        "JOIN STRING_IDS n ON n.id = c.taskType "
        "JOIN ENUM_HCCL_TRANSPORT_TYPE p ON p.id = c.transportType ORDER BY t.startNs",
    )
    assert found == [
        ("Notify_Record", 260, 0, 1, 0, "SDMA"),
        ("Notify_Wait", 2500, 0, 1, 0, "LOCAL"),
        ("Memcpy", 10750, 0, 1, 1024, "SDMA"),
        ("Reduce_Inline", 1000, 0, 0, 2048, "SDMA"),
    ]
    assert [one for one in check([tmp_path / "out"]).findings if _fails(one)] == []


def test_what_no_recording_has_is_stated_by_file(tmp_path: Path) -> None:
    job = _drawn(tmp_path, 3)
    (job / "data" / "DATA_PREPROCESS.dev.TDT.0.slice_0").write_bytes(b"[1] Enqueue data\0")
    (one,) = convert(job, tmp_path / "out", ["db"])
    assert "tdt: nothing of it is converted" in one.lost
    assert any(line.startswith("hwts: core_id, block_id") for line in one.lost)


def test_damage_is_stated_and_the_rest_converted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = _drawn(tmp_path, 4)
    log = sorted(job.rglob("hwts*"))[0]
    log.write_bytes(log.read_bytes()[:-10])
    assert converted(job, tmp_path / "out", "--as", "db") == 1
    output = capsys.readouterr()
    assert log.name in output.err
    (profile,) = (tmp_path / "out").iterdir()
    assert log.name in (profile / "incomplete.txt").read_text()
    assert len(rows(profile, "SELECT * FROM TASK"))


def test_a_step_whose_times_no_device_shows_is_left_out(tmp_path: Path) -> None:
    job = tmp_path / "JOB"
    job.mkdir()
    points = [(1, 1_000), (2, 2_000), (255, 3_000), (0, 3_500), (1, 4_000), (2, 5_000)]
    records = b"".join(struct.pack("<QHHQ", tag, 1, 2, tick) for tag, tick in points)
    late = struct.pack("<QHHQ", 255, 1, 2, (1 << 62) + 5)
    (job / "training_trace.46.dev.profiler_default_tag.0.slice_0").write_bytes(records + late)
    (one,) = convert(job, tmp_path / "out")
    assert any("training_trace: 1 steps" in line for line in one.lost)


def test_a_folder_with_nothing_to_convert_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nothing").mkdir()
    assert converted(tmp_path / "nothing", tmp_path / "out") == 2
    assert "no raw file" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    with pytest.raises(Unreadable):
        convert(tmp_path / "absent", tmp_path / "out")


def test_m52_numbers_of_any_length_end_no_conversion(tmp_path: Path) -> None:
    made, digits = tmp_path / "made", "9" * 5_000
    made.mkdir()
    header = "task_id,stream_id,block_dim,full_op_name,op_name,op_type,subgraph,op_info"
    row = f"1,2,{digits},Default/Add-op1,Add-op1,Add,Default,"
    (made / "framework_raw_0.csv").write_text(f"{header}\n{row}\n")
    (made / "minddata_aicpu_0.txt").write_text(f"GetNext 1 2 {digits}\nGetNext 3 4 5\n")
    (one,) = convert(made, tmp_path / "out", ["text"])
    assert one.damage == ()


def test_several_devices_and_jobs_have_a_profile_each(tmp_path: Path) -> None:
    jobs = tmp_path / "jobs"
    for job in ("a", "b"):
        shutil.copytree(_drawn(tmp_path / job, 1), jobs / job / "JOB")
    done = convert(jobs, tmp_path / "out", ["db"])
    assert len({one.profile for one in done}) == len(done) == 2
    assert {one.profile for one in done} == set((tmp_path / "out").iterdir())


def _drawn(path: Path, seed: int) -> Path:
    """A drawn capture of G1, in the folder of a job."""
    job = path / "JOB"
    write_capture(job, seed, "2020-07-01")
    return job


def _graph() -> Any:
    return of_mindspore(preset("cnn-910a"))


def _simulated(path: Path, generation: str, seed: int) -> Converted:
    write_run(_graph(), seed, path / "run", ["mindspore-raw"], generation=generation)
    return convert(path / "run", path / "out", ["db"])[0]


def _slice(path: Path) -> int:
    return int(path.name.rpartition("_")[2])


def _types(found: Counter[tuple[str, int]]) -> Counter[str]:
    types: Counter[str] = Counter()
    for (op_type, _), count in found.items():
        types[op_type] += count
    return types


def _ticks(found: Counter[tuple[str, int]]) -> int:
    return sum(length * count for (_, length), count in found.items())


def _fails(finding: Any) -> bool:
    return bool(finding.verdict == "violation")


def _event(
    kind: str, start: float, length: float, source: int, target: int, transport: str, size: object
) -> dict[str, object]:
    args = {"task type": kind, "src rank": source, "dst rank": target, "size": size}
    args |= {"transport type": transport, "stream id": 24, "task id": round(start) % 65536}
    return {"tid": 2, "ts": start, "dur": length, "ph": "X", "name": kind, "args": args}
