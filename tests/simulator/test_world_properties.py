"""What must hold of the captures of all ranks of any scenario."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st
from world_cases import Simulated, assert_equal, simulated, world_of

from ascend_ref.capture import Capture, Switches
from ascend_ref.capture.model import FIRST_MARK_CONNECTION, NONE
from ascend_simulator.choices import Scenario
from ascend_simulator.strategies import scenarios
from ascend_simulator.world.streams import COMPUTE_STREAM, communication_streams
from ascend_spec import catalog

FEW = settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
DRAWS = 0 if settings().derandomize else random.SystemRandom().getrandbits(32)
"""Others in each run; where examples are to be the same each time, these as well."""
SMALL = scenarios(max_ranks=8)
SEEDS = st.integers(0, 1 << 32)
LINKS = {row.name: row.id for row in catalog().enums["ENUM_HCCL_LINK_TYPE"].members}
RDMA = {row.name: row.id for row in catalog().enums["ENUM_HCCL_RDMA_TYPE"].members}
TRANSPORTS = {row.name: row.id for row in catalog().enums["ENUM_HCCL_TRANSPORT_TYPE"].members}
TYPES = {row.id: row.name for row in catalog().enums["ENUM_HCCL_DATA_TYPE"].members}
WIDTHS = {"INT8": 1, "FP16": 2, "BFP16": 2, "FP32": 4, "INT32": 4, "FP64": 8, "INT64": 8}
FLOWS = {"hccs": "HCCS", "sio": "SIO", "roce": "ROCE", "pcie": "PCIE"}
TINY = 4


@dataclass(frozen=True)
class Small:
    """A small task, with the ranks at both ends of it; times of the true clock."""

    kind: str
    rank: int
    other: int
    size: int
    notify: int
    transport: int
    link: int
    rdma: int
    start: int
    end: int

    @property
    def tells(self) -> bool:
        return self.kind == "Notify_Record" or self.rdma == RDMA["RDMA_SEND_NOTIFY"]


@dataclass(frozen=True)
class Operator:
    """One run of a communication operator on one rank."""

    kind: str
    elements: int
    width: int
    ranks: int
    tasks: list[Small]


Meetings = dict[object, dict[int, Operator]]
"""By meeting and rank."""


def same_draws(test: Any) -> Any:
    """The draws are the same for each question, so that a run is simulated once for all of them."""
    return with_seed(DRAWS)(FEW(test))


@lru_cache(16)
def run_of(scenario: Scenario, seed: int) -> Simulated:
    return simulated(world_of(scenario, seed))


def column(values: Any) -> list[int]:
    listed: list[int] = values.tolist()
    return listed


def meetings(run: Simulated) -> Meetings:
    """The operators of all ranks, those that belong together at one place."""
    found: Meetings = defaultdict(dict)
    for rank, capture in enumerate(run.captures):
        counts: Counter[object] = Counter()
        smalls = small_tasks(run, rank)
        texts = capture.texts.all
        for number, row in enumerate(rows_of(capture.collectives)):
            kind, group = texts[row["kind"]], texts[int(capture.groups.name[row["group"]])]
            tasks = smalls[number]
            size = int(capture.groups.size[row["group"]])
            meeting: object = group
            if kind in ("send", "receive"):
                other = next(task.other for task in tasks if task.tells)
                meeting = (group, *((rank, other) if kind == "send" else (other, rank)))
                size = 2
            counts[meeting] += 1
            width = WIDTHS[TYPES[row["data_type"]]]
            operator = Operator(kind, row["count"], width, size, tasks)
            found[meeting, counts[meeting]][rank] = operator
    return found


def rows_of(batch: Any) -> Iterator[dict[str, int]]:
    names = [name for name, _ in batch.columns()]
    columns = [column(values) for _, values in batch.columns()]
    return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))


def small_tasks(run: Simulated, rank: int) -> dict[int, list[Small]]:
    """By collective, in order of start."""
    capture = run.captures[rank]
    skew = run.world.disturbances.skew(rank)
    tasks, collectives = capture.tasks, capture.collectives
    place = {number: row for row, number in enumerate(column(tasks.identity))}
    start, end, texts = column(tasks.start), column(tasks.end), capture.texts.all
    found: dict[int, list[Small]] = defaultdict(list)
    for row in rows_of(capture.transfers):
        group = int(collectives.group[row["collective"]])
        first = int(capture.groups.first[group])
        assert capture.group_ranks[first + row["source"]] == rank
        target = row["target"]
        other = NONE if target == NONE else int(capture.group_ranks[first + target])
        task = place[row["task"]]
        found[row["collective"]].append(
            Small(
                texts[row["kind"]],
                rank,
                other,
                row["size"],
                row["notify"],
                row["transport"],
                row["link"],
                row["rdma"],
                start[task] - skew,
                end[task] - skew,
            )
        )
    for small in found.values():
        small.sort(key=lambda task: task.start)
    return found


@same_draws
@given(SMALL, SEEDS)
def test_no_task_begins_before_the_call_that_launches_it(scenario: Scenario, seed: int) -> None:
    assume(scenario.capture.npu)
    for capture in run_of(scenario, seed).captures:
        called = dict(
            zip(column(capture.calls.connection), column(capture.calls.start), strict=True)
        )
        texts = capture.texts.all
        for row in rows_of(capture.tasks):
            if row["connection"] >= FIRST_MARK_CONNECTION:
                assert texts[row["kind"]] == "MsTx"
            elif not texts[row["kind"]].startswith("PROFILING_"):
                assert called[row["connection"]] <= row["start"], row


@same_draws
@given(SMALL, SEEDS)
def test_no_wait_ends_before_the_record_that_it_waits_for(scenario: Scenario, seed: int) -> None:
    for operators in meetings(run_of(scenario, seed)).values():
        told: dict[object, list[int]] = defaultdict(list)
        heard: dict[object, list[int]] = defaultdict(list)
        for operator in operators.values():
            for task in operator.tasks:
                if task.tells:
                    told[task.rank, task.other, task.notify].append(task.end)
                elif task.kind == "Notify_Wait":
                    heard[task.other, task.rank, task.notify].append(task.end)
        assert told.keys() == heard.keys()
        for key, ends in heard.items():
            assert all(record <= wait for record, wait in zip(told[key], ends, strict=True)), key


@same_draws
@given(SMALL, SEEDS)
def test_streams_wait_for_what_they_need_of_each_other(scenario: Scenario, seed: int) -> None:
    """An operator begins after what its data come from; who awaits it goes on when it is over."""
    run = run_of(scenario, seed)
    for rank, capture in enumerate(run.captures):
        compiled, skew = run.world.of(rank), run.world.disturbances.skew(rank)
        smalls, texts = small_tasks(run, rank), capture.texts.all
        ends: dict[tuple[int, str], list[int]] = defaultdict(list)
        for row in rows_of(capture.tasks):
            if texts[row["kind"]] in ("EVENT_RECORD", "EVENT_WAIT"):
                ends[row["stream"], texts[row["kind"]]].append(row["end"] - skew)
        asked, awaited = (ends[COMPUTE_STREAM, kind] for kind in ("EVENT_RECORD", "EVENT_WAIT"))
        streams = column(communication_streams(compiled))
        passed: Counter[int] = Counter()
        over: list[int] = []
        for number in range(scenario.schedule.active * len(streams)):
            stream = streams[number % len(streams)]
            begun = ends[stream, "EVENT_WAIT"][passed[stream]]
            over.append(ends[stream, "EVENT_RECORD"][2 * passed[stream]])
            passed[stream] += 1
            first = min(task.start for task in smalls[number])
            last = max(task.end for task in smalls[number])
            assert asked[number] <= begun <= first
            assert last <= over[number]
        wanted = column(compiled.awaited[compiled.awaited >= 0])
        for place, end in enumerate(awaited):
            step, member = divmod(place, len(wanted))
            assert over[step * len(streams) + wanted[member]] <= end


@same_draws
@given(SMALL, SEEDS)
def test_both_ends_of_a_path_tell_the_same_of_it(scenario: Scenario, seed: int) -> None:
    """Ranks of one host reach each other's memory; between hosts everything is sent (RDMA)."""
    run = run_of(scenario, seed)
    links: dict[frozenset[int], set[int]] = defaultdict(set)
    per_host = run.world.machine.devices_per_host
    for operators in meetings(run).values():
        for task in chain.from_iterable(operator.tasks for operator in operators.values()):
            away = task.other != NONE and task.other // per_host != task.rank // per_host
            if task.kind == "Notify_Wait":
                told = (TRANSPORTS["LOCAL"], LINKS["INVALID_TYPE"], RDMA["INVALID_TYPE"])
                assert (task.transport, task.link, task.rdma) == told
                continue
            assert task.transport == TRANSPORTS["RDMA" if away else "SDMA"]
            assert (task.kind == "RDMASend") == (away and not task.size)
            step = "RDMA_SEND_PAYLOAD" if task.size else "RDMA_SEND_NOTIFY"
            assert task.rdma == RDMA[step if away else "INVALID_TYPE"]
            if task.link != LINKS["INVALID_TYPE"] and task.other != NONE:
                assert (task.link == LINKS["ROCE"]) == away
                assert (task.link == LINKS["ON_CHIP"]) == (task.other == task.rank)
                links[frozenset((task.rank, task.other))].add(task.link)
    assert all(len(found) == 1 for found in links.values())


@same_draws
@given(SMALL, SEEDS, st.sampled_from([1, 2, 4]))
def test_ranks_of_a_host_wait_for_each_other_as_often_as_they_signal(
    scenario: Scenario, seed: int, per_host: int
) -> None:
    """Real meshes and rings do so with each peer, also where other peers are on other hosts."""
    hardware = replace(scenario.hardware, devices_per_host=per_host)
    run = run_of(replace(scenario, hardware=hardware), seed)
    for operators in meetings(run).values():
        more: Counter[tuple[int, int]] = Counter()
        for task in chain.from_iterable(operator.tasks for operator in operators.values()):
            if task.other != NONE and task.other // per_host == task.rank // per_host:
                more[task.rank, task.other] += task.kind == "Notify_Record"
                more[task.rank, task.other] -= task.kind == "Notify_Wait"
        assert not any(more.values())


@same_draws
@given(
    scenarios(max_ranks=8, kinds=["moe", "dense-transformer", "cnn"]),
    SEEDS,
    st.sampled_from([1, 2, 4]),
)
def test_what_is_sent_to_another_host_takes_its_time(
    scenario: Scenario, seed: int, per_host: int
) -> None:
    """The record that follows the data is heard when the wire has carried them."""
    hardware = replace(scenario.hardware, devices_per_host=per_host)
    run = run_of(replace(scenario, hardware=hardware), seed)
    rate = run.world.machine.outside.bytes_per_microsecond
    for operators in meetings(run).values():
        sent: dict[object, list[tuple[int, int, int]]] = defaultdict(list)
        heard: dict[object, list[int]] = defaultdict(list)
        for task in chain.from_iterable(operator.tasks for operator in operators.values()):
            if task.kind == "Notify_Wait":
                heard[task.other, task.rank].append(task.end)
            elif task.transport == TRANSPORTS["RDMA"]:
                sent[task.rank, task.other].append((task.start, task.end, task.size))
        for path, tasks in sent.items():
            records = 0
            for start, _, size in tasks:
                if size:
                    # The scatter of the wires takes off up to four standard deviations.
                    assert heard[path][records] - start >= size * 1000 // rate * 95 // 100, path
                else:
                    records += 1


@same_draws
@given(SMALL, SEEDS)
def test_tasks_of_a_stream_do_not_overlap(scenario: Scenario, seed: int) -> None:
    for capture in run_of(scenario, seed).captures:
        streams: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for row in rows_of(capture.tasks):
            assert row["start"] <= row["end"]
            if row["context"] == NONE:
                streams[row["stream"]].append((row["start"], row["end"]))
        for tasks in streams.values():
            assert all(one[1] <= other[0] for one, other in pairwise(sorted(tasks)))


@same_draws
@given(SMALL, SEEDS)
def test_sub_tasks_lie_inside_of_their_enclosing_task(scenario: Scenario, seed: int) -> None:
    for capture in run_of(scenario, seed).captures:
        rows = list(rows_of(capture.tasks))
        whole = {
            (row["stream"], row["number"], row["connection"]): (row["start"], row["end"])
            for row in rows
            if row["context"] == NONE
        }
        for row in rows:
            if row["context"] != NONE:
                start, end = whole[row["stream"], row["number"], row["connection"]]
                assert start <= row["start"] <= row["end"] <= end


def moved(operators: dict[int, Operator]) -> Counter[tuple[int, int]]:
    """Byte by (from, to)."""
    found: Counter[tuple[int, int]] = Counter()
    for operator in operators.values():
        for task in operator.tasks:
            if task.other not in (NONE, task.rank):
                found[task.rank, task.other] += task.size
    return found


def copied(operators: dict[int, Operator]) -> int:
    """Byte of all copies, those to the own memory among them."""
    tasks = (task for operator in operators.values() for task in operator.tasks)
    return sum(task.size for task in tasks if task.kind == "Memcpy")


@same_draws
@given(SMALL, SEEDS)
def test_ranks_move_what_the_operator_needs(scenario: Scenario, seed: int) -> None:
    """Every piece goes to all others once, and comes from all others once where it is summed; of
    uneven pieces each goes to one rank, which may be the own one.
    """
    for operators in meetings(run_of(scenario, seed)).values():
        any_rank = next(iter(operators.values()))
        given_bytes, ranks = any_rank.elements * any_rank.width, any_rank.ranks
        whole = {
            "allReduce": 2 * given_bytes,
            "reduceScatter": given_bytes * ranks,
            "allGather": given_bytes * ranks,
        }.get(any_rank.kind, given_bytes)
        assert len(operators) == ranks
        if any_rank.kind == "alltoallv":
            assert copied(operators) == sum(one.elements * one.width for one in operators.values())
            continue
        assert moved(operators).total() == (ranks - 1) * whole, any_rank.kind


@pytest.mark.exhaustive
@FEW
@given(scenarios(), SEEDS)
def test_what_arrives_over_a_link_is_what_peers_sent_over_it(scenario: Scenario, seed: int) -> None:
    run = run_of(scenario, seed)
    came: Counter[tuple[int, int]] = Counter()
    went: Counter[tuple[int, int]] = Counter()
    for operators in meetings(run).values():
        for operator in operators.values():
            for task in operator.tasks:
                if task.other not in (NONE, task.rank):
                    went[task.rank, task.link] += task.size
                    came[task.other, task.link] += task.size
    for rank, (capture, traffic) in enumerate(zip(run.captures, run.traffic, strict=True)):
        copies = host_copies(capture)
        for name, link in FLOWS.items():
            flow = getattr(traffic, name)
            read, written = copies if name == "pcie" else (0, 0)
            assert int(flow.read.sum()) == came[rank, LINKS[link]] + read
            assert int(flow.written.sum()) == went[rank, LINKS[link]] + written


def host_copies(capture: Capture) -> tuple[int, int]:
    """Byte copied to the device and to the host."""
    operations = {row.name: row.id for row in catalog().enums["ENUM_MEMCPY_OPERATION"].members}
    size, operation = capture.copies.size, capture.copies.operation
    names = ("host to device", "device to host")
    to_device, to_host = (int(size[operation == operations[name]].sum()) for name in names)
    return to_device, to_host


@same_draws
@given(SMALL, SEEDS)
def test_memory_traffic_is_that_of_kernels_and_copies(scenario: Scenario, seed: int) -> None:
    run = run_of(scenario, seed)
    for rank, (capture, traffic) in enumerate(zip(run.captures, run.traffic, strict=True)):
        kinds = run.world.of(rank).kinds
        read = sum(kinds[kind].read for kind in column(capture.kernels.kind))
        written = sum(kinds[kind].written for kind in column(capture.kernels.kind))
        local = int(capture.transfers.size[capture.transfers.link == LINKS["ON_CHIP"]].sum())
        local += int(capture.copies.size.sum()) - sum(host_copies(capture))
        assert int(traffic.memory.read.sum()) == read + local
        assert int(traffic.memory.written.sum()) == written + local


@same_draws
@given(SMALL, SEEDS)
def test_samples_of_the_links_add_up_to_the_traffic(scenario: Scenario, seed: int) -> None:
    sampled = replace(scenario.capture, npu=True, sys_io=50, sys_interconnection=50)
    faults = tuple(one for one in scenario.faults if one.kind != "lost-samples")
    run = run_of(replace(scenario, capture=sampled, faults=faults), seed)
    for capture, traffic in zip(run.captures, run.traffic, strict=True):
        assert_port(capture, int(traffic.roce.read.sum()), int(traffic.roce.written.sum()))
        hccs = capture.samples.get("HCCS")
        if hccs is None:
            continue
        assert len(hccs["timestampNs"]) > 1
        for side, amount in (("rx", traffic.hccs.read), ("tx", traffic.hccs.written)):
            rates = hccs[f"{side}Throughput"][1:]
            length = np.diff(hccs["timestampNs"])
            carried = sum(
                int(rate) * int(ns) // 10**9 for rate, ns in zip(rates, length, strict=True)
            )
            idle = int(length.sum()) * 400_000 // 10**9
            least = carried - idle
            assert least <= int(amount.sum()) <= carried + len(rates) * 2


def assert_port(capture: Capture, read: int, written: int) -> None:
    """RoCE's counters tell payloads."""
    roce = capture.samples.get("ROCE")
    if roce is not None:
        for side, amount in (("rx", read), ("tx", written)):
            counter = roce[f"{side}Bytes"]
            assert int(counter[-1] - counter[0]) == amount


@same_draws
@given(SMALL, SEEDS)
def test_memory_is_never_negative_nor_more_than_reserved(scenario: Scenario, seed: int) -> None:
    switches = replace(scenario.capture, memory=True, npu=True)
    for capture in run_of(replace(scenario, capture=switches), seed).captures:
        totals, blocks = capture.memory_totals, capture.memory_blocks
        assert len(totals)
        assert (totals.allocated >= 0).all()
        assert (totals.allocated <= totals.reserved).all()
        assert (totals.active <= totals.reserved).all()
        assert (blocks.total_allocated <= blocks.total_reserved).all()
        assert (blocks.total_allocated >= 0).all()
        given_back = blocks.released != NONE
        for left in (blocks.release_total_allocated, blocks.release_total_reserved):
            assert (left[given_back] >= 0).all()
        assert (blocks.allocated[given_back] <= blocks.released[given_back]).all()


OFF = Switches(level=0, cpu=False, npu=False, aic_metrics=None, record_shapes=False)


@same_draws
@given(SMALL, SEEDS)
def test_no_switch_changes_what_runs(scenario: Scenario, seed: int) -> None:
    plain = run_of(replace(scenario, capture=OFF), seed)
    switched = run_of(scenario, seed)
    for one, other in zip(plain.captures, switched.captures, strict=True):
        assert ran(one) == ran(other)


def ran(capture: Capture) -> list[tuple[int, int, int, str]]:
    texts = capture.texts.all
    rows = rows_of(capture.tasks)
    ran = [(row["start"], row["end"], row["stream"], texts[row["kind"]]) for row in rows]
    return [task for task in ran if task[3] != "MsTx" and not task[3].startswith("PROFILING_")]


@same_draws
@given(SMALL, SEEDS)
def test_a_seed_gives_the_same_captures_again(scenario: Scenario, seed: int) -> None:
    first, second = run_of(scenario, seed), simulated(world_of(scenario, seed))
    for one, other in zip(first.captures, second.captures, strict=True):
        assert_equal(one, other)
    assert first.totals == second.totals


@same_draws
@given(SMALL, SEEDS)
def test_another_seed_gives_other_captures(scenario: Scenario, seed: int) -> None:
    first, second = run_of(scenario, seed), run_of(scenario, seed + 1)
    assert all(
        ran(one) != ran(other) for one, other in zip(first.captures, second.captures, strict=True)
    )
