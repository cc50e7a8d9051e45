"""What 950 records of its communication and of its cores, against what was communicated and ran."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from record_rows import Row, captured, everything, kernels, rows, scenario

from ascend_ref.capture import Capture
from ascend_ref.capture.model import NONE
from ascend_simulator import simulate
from ascend_simulator.scenario import parse

LATENCY, TICK = 1_500, 20
"""ns of the links of 950, and of its counter."""
PACKAGE = 4_096
HCCS = 1
"""What the links of the bus are called (db-schema 3)."""
REPORTS = ("ccu_task_info", "ccu_group_info", "ccu_wait_signal_info")


def motions(capture: Capture) -> list[Row]:
    """Tasks that move data to another device, which the tables of communication have."""
    texts = capture.texts.all
    tasks = {identity: at for at, identity in enumerate(capture.tasks.identity.tolist())}
    found = []
    for at, kind in enumerate(capture.transfers.kind.tolist()):
        row = tasks[int(capture.transfers.task[at])]
        size, target = int(capture.transfers.size[at]), int(capture.transfers.target[at])
        if (
            texts[kind] in ("Memcpy", "Reduce_Inline")
            and size
            and int(capture.transfers.link[at]) == HCCS
        ):
            found.append(
                {
                    "task": int(capture.tasks.number[row]),
                    "start": int(capture.tasks.start[row]),
                    "end": int(capture.tasks.end[row]),
                    "size": size,
                    "target": target,
                    "reduces": texts[kind] == "Reduce_Inline",
                }
            )
    return found


def test_each_motion_is_a_loop_and_a_wait_for_the_target() -> None:
    capture = everything("950")
    found = rows(capture, "ccu_mission")
    every = motions(capture)
    assert every
    for motion in every:
        own = [row for row in found if row["task_id"] == motion["task"]]
        (loop,) = (row for row in own if row["wait_start"] in (None, NONE))
        waits = [row for row in own if row is not loop]
        end = loop["instruction_start_time"] + loop["instruction_duration"]
        assert loop["instruction_start_time"] == motion["start"]
        assert motion["end"] - end == min(LATENCY, (motion["end"] - motion["start"]) // 2)
        assert [row["notify_rank_id"] for row in waits] == [*reversed(range(16))]
        assert {row["wait_start"] for row in waits} == {end}
        took = {row["notify_rank_id"]: row["notify_duration"] for row in waits}
        assert took.pop(motion["target"]) == motion["end"] - end
        assert set(took.values()) == {0}
    assert len(found) == 17 * len(every)


def test_the_host_reports_every_mission_with_its_amount() -> None:
    capture = everything("950")
    every = {motion["task"]: motion for motion in motions(capture)}
    for record in REPORTS:
        assert {row["task_id"] for row in rows(capture, record)} == every.keys()
    for row in rows(capture, "ccu_group_info"):
        motion = every[row["task_id"]]
        assert row["data"] == motion["size"]
        assert (row["reduction"] == 0) == motion["reduces"]
        assert (row["rank"], row["size"], row["peer"]) == (0, 2, motion["target"])
    for row in rows(capture, "ccu_wait_signal_info"):
        assert row["mask"] == 1 << every[row["task_id"]]["target"]


def test_the_table_states_what_was_moved_how_fast() -> None:
    capture = everything("950")
    table, texts = capture.samples["CCU"], capture.texts.all
    every = {motion["task"]: motion for motion in motions(capture)}
    numbers = dict(zip(capture.tasks.identity.tolist(), capture.tasks.number.tolist(), strict=True))
    kinds = [texts[one] for one in table["name"].tolist()]
    assert kinds == ["LoopGroup"] * len(every) + ["Wait"] * len(every)
    for at, text in enumerate(table["args"].tolist()):
        pairs = json.loads(texts[text])
        stated = dict(zip(pairs[::2], pairs[1::2], strict=True))
        motion = every[stated["Task Id"]]
        assert numbers[int(table["globalTaskId"][at])] == motion["task"]
        start, end = int(table["startNs"][at]), int(table["endNs"][at])
        assert motion["start"] <= start <= end <= motion["end"]
        if kinds[at] == "LoopGroup":
            assert stated["Data Size"] == motion["size"]
            assert stated["Bandwidth (B/s)"] == motion["size"] * 10**9 // (end - start)
            assert ("Reduce Op Type" in stated) == motion["reduces"]
        else:
            assert stated["Notify Rank ID"] == motion["target"]


def test_delays_of_a_channel_are_those_of_the_motions_since_the_sample_before() -> None:
    capture = everything("950")
    found = rows(capture, "ccu_channel")
    assert {row["channel_id"] for row in found} == {1}
    every = [
        (one["start"], one["end"] - min(LATENCY, (one["end"] - one["start"]) // 2), one["size"])
        for one in motions(capture)
    ]
    used = 0
    for before, row in pairwise(found):
        met = [
            (PACKAGE * (until - start)) // size // TICK * TICK
            for start, until, size in every
            if start < row["time"] and until > before["time"]
        ]
        assert (row["min_delay"], row["max_delay"]) == ((min(met), max(met)) if met else (0, 0))
        assert row["min_delay"] <= row["avg_delay"] <= row["max_delay"]
        assert row["avg_delay"] % TICK == 0
        used += bool(met)
    assert used


def test_ports_carry_what_is_sent_to_each_device() -> None:
    """Whole MiB/s: of each port and sample less than one is lost."""
    chosen = scenario("950")
    chosen = replace(
        chosen,
        parallelism=replace(chosen.parallelism, ranks=4),
        capture=replace(chosen.capture, sys_interconnection=50),
    )
    capture = simulate(chosen, 1).capture(1)
    table = capture.samples["UB"]
    times = np.unique(table["timestampNs"])
    seconds = np.diff(times) / 1e9
    sent: dict[int, int] = {}
    for motion in motions(capture):
        target = motion["target"]  # all ranks are one group, on one host
        port = target - (target > 1)
        sent[port] = sent.get(port, 0) + motion["size"]
    assert sorted(set(table["portId"].tolist())) == list(range(7))
    assert sent
    for port in range(7):
        rates = table["txUdmaBind"][table["portId"] == port][1:]
        amount = float((rates * seconds).sum()) * 2**20
        most = sent.get(port, 0)
        assert most - seconds.sum() * 2**20 <= amount <= most
    assert table["rxUdmaBind"].any()


@pytest.mark.parametrize(("core", "pipes"), [("aic", {"mac", "mte1"}), ("aiv0", {"vec"})])
def test_pipes_work_within_the_kernels(core: str, pipes: set[str]) -> None:
    capture = everything("950")
    names = {"mac": "CUBE", "mte1": "MTE1", "vec": "VEC"}
    found = [row for row in rows(capture, "biu_perf") if row["core"] == core]
    assert {names[one] for one in pipes} <= {row["instruction"] for row in found}
    runs = sorted((one["start"], one["end"]) for one in kernels(capture))
    starts = [start for start, _ in runs]
    for row in found:
        at = int(np.searchsorted(starts, row["time"], side="right")) - 1
        assert runs[at][0] <= row["time"]
        assert row["time"] + row["length"] <= runs[at][1]
    assert {row["group"] for row in found} <= {0, 1}


def test_the_cube_works_as_long_as_its_counter_states() -> None:
    """One product of matrices on all cores: mac_ratio of its cycles is the time of CUBE."""
    chosen = parse(
        "hardware: {product: '950'}\nmodel: {kind: single-operator, shape: [4096, 4096, 4096]}"
    )
    capture = captured(replace(chosen, schedule=replace(chosen.schedule, active=1)))
    counters = dict(zip(capture.counters.metrics, capture.counters.values[0].tolist(), strict=True))
    (kernel,) = kernels(capture)
    own = [
        row
        for row in rows(capture, "biu_perf")
        if (row["core"], row["group"], row["instruction"]) == ("aic", 0, "CUBE")
    ]
    worked = sum(row["length"] for row in own) * 1.8
    cycles = counters["aic_total_cycles"] / min(kernel["blocks"], 32)
    assert worked == pytest.approx(counters["aic_mac_ratio"] * cycles, rel=0.02)
