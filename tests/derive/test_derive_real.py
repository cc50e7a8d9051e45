"""The derivations give what real exporters wrote into analysis.db."""

from __future__ import annotations

import numpy as np
import pytest
from real_rank import Rank, real_rank

from ascend_ref.derive import matrix, transit
from ascend_ref.derive.matching import groups
from ascend_ref.derive.steps import Spans, step_ranges, step_trace

each_folder = pytest.mark.parametrize("folder", ["level0_rank0", "level1_rank0", "level1_rank1"])
at_level_1 = pytest.mark.parametrize("folder", ["level1_rank0", "level1_rank1"])
STEP = (
    "step, computing, communication_not_overlapped, overlapped, communication, free, stage, "
    "bubble, preparing"
)
SMALL_TASKS = """
SELECT c.opId - 1, t.startNs, t.endNs, c.srcRank, c.dstRank, c.size, c.linkType, c.transportType,
    c.planeId, k.value IN ('Memcpy', 'Reduce_Inline'), k.value = 'Notify_Wait'
FROM COMMUNICATION_TASK_INFO c JOIN TASK t USING (globalTaskId)
JOIN STRING_IDS k ON k.id = c.taskType ORDER BY c.opId, t.startNs
"""
FIXTURE_PLANE = 1
"""The exporter of these files took transit and waiting from plane 1 (text-outputs.md 7.8)."""
NONE = 4_294_967_295


@each_folder
def test_the_step_trace_is_that_of_the_exporter(folder: str) -> None:
    rank = real_rank(folder)
    numbers, begin, end = rank.arrays("SELECT id, startNs, endNs FROM STEP_TIME")
    connection, first, last = rank.arrays(
        "SELECT connectionId, startNs, endNs FROM CANN_API WHERE type = 10000 ORDER BY connectionId"
    )
    launcher, start, stop = rank.arrays("SELECT connectionId, startNs, endNs FROM TASK")
    place = np.searchsorted(connection, launcher).clip(max=len(connection) - 1)
    launched = np.where(connection[place] == launcher, place, -1)
    ranges = step_ranges(
        numbers, Spans(begin, end), Spans(first, last), launched, Spans(start, stop)
    )
    kernels = Spans(
        *rank.arrays(
            "SELECT startNs, endNs FROM TASK JOIN COMPUTE_TASK_INFO USING (globalTaskId) "
            "ORDER BY startNs"
        )
    )
    operators = Spans(*rank.arrays("SELECT startNs, endNs FROM COMMUNICATION_OP ORDER BY startNs"))
    none = np.zeros(len(operators.start), np.bool_)
    traces = [step_trace(step, kernels, operators, none, None) for step in ranges]
    found = [
        (
            str(trace.step.number),
            trace.computing,
            trace.communication_not_overlapped,
            trace.overlapped,
            trace.communication,
            trace.free,
            trace.stage,
            trace.bubble,
            trace.preparing,
        )
        for trace in traces
    ]
    written = rank.rows(f"SELECT {STEP} FROM StepTraceTime", analysis=True)
    assert found == [(row[0], *(round(value * 1_000) for value in row[1:])) for row in written]


def small_tasks(rank: Rank) -> transit.SmallTasks:
    """The links of these files are ON_CHIP (0) and HCCS (1)."""
    owner, start, end, source, target, size, link, transport, plane, moves, waits = rank.arrays(
        SMALL_TASKS
    )
    return transit.SmallTasks(
        owner=owner,
        start=start,
        end=end,
        link=np.where(link == 0, transit.LOCAL, transit.HCCS),
        source=source,
        target=np.where(target == NONE, source, target),
        size=size,
        on_master=plane == FIXTURE_PLANE,
        moves=(moves == 1) & (transport == 0),
        waits=waits == 1,
    )


@at_level_1
def test_the_time_of_operators_divides_as_the_exporter_says(folder: str) -> None:
    rank = real_rank(folder)
    start, end = rank.arrays("SELECT startNs, endNs FROM COMMUNICATION_OP ORDER BY opId")
    found = transit.division(small_tasks(rank), start, end)
    written = np.array(
        rank.rows(
            "SELECT elapse_time, transit_time, wait_time, synchronization_time, idle_time "
            "FROM CommAnalyzerTime ORDER BY start_timestamp",
            analysis=True,
        )
    )
    ours = np.stack(
        [found.elapsed, found.transit, found.wait, found.synchronization, found.idle], axis=1
    )
    # Times of the small tasks are fractions of ns in the exporter, whole in TASK.
    assert np.abs(ours / 1e6 - written).max() < 1e-4


@at_level_1
def test_the_packets_are_those_of_the_exporter(folder: str) -> None:
    rank = real_rank(folder)
    by_link = transit.packets(small_tasks(rank))
    sums = transit.link_sums(by_link)
    found = [
        (
            int(part.owner[row]),
            transit.LINKS[part.link[row]],
            int(part.transit_size[row]),
            part.transit_time[row] / 1e6,
            int(part.size[row]),
            int(part.count[row]),
            part.duration[row] / 1e6,
        )
        for part in (by_link, sums)
        for row in range(len(part.owner))
    ]
    written = rank.rows(
        "SELECT dense_rank() OVER (ORDER BY b.hccl_op_name) - 1, transport_type, "
        "CAST(round(transit_size * 1e6) AS INTEGER), b.transit_time, "
        "CAST(round(package_size * 1e6) AS INTEGER), count, total_duration "
        "FROM CommAnalyzerBandwidth b",
        analysis=True,
    )
    assert len(found) == len(written)
    for ours, theirs in zip(sorted(found), sorted(written), strict=True):
        assert ours[:3] == theirs[:3]
        assert ours[4:6] == theirs[4:6]
        assert (ours[3], ours[6]) == pytest.approx((theirs[3], theirs[6]), abs=1e-4)


@at_level_1
def test_the_matrix_chooses_the_flows_of_the_exporter(folder: str) -> None:
    rank = real_rank(folder)
    names = [
        name
        for (name,) in rank.rows(
            "SELECT s.value FROM COMMUNICATION_OP JOIN STRING_IDS s ON s.id = opName ORDER BY opId"
        )
    ]
    flows = transit.flows(small_tasks(rank))
    _, heap = groups(flows.source, flows.target)
    rows = matrix.choices(flows, heap)
    rates = matrix.rate(rows.size, rows.duration)
    found = []
    for row, (flow, choice) in enumerate(zip(rows.flow, rows.choice, strict=True)):
        name, suffix = names[flows.owner[flow]], matrix.CHOICES[choice]
        pair = (str(flows.source[flow]), str(flows.target[flow]), transit.LINKS[flows.link[flow]])
        shown = "" if suffix == "total" else name
        label = f"{matrix.matrix_kind(name)}-{suffix}"
        found.append((label, *pair, int(rows.size[row]), shown, rates[row]))
    written = rank.rows(
        "SELECT hccl_op_name, src_rank, dst_rank, transport_type, "
        "CAST(round(transit_size * 1e6) AS INTEGER), op_name, bandwidth FROM CommAnalyzerMatrix",
        analysis=True,
    )
    # The exporter lists the pairs of ranks plane by plane.
    assert len(found) == len(written)
    for ours, theirs in zip(sorted(found), sorted(written), strict=True):
        assert ours[:-1] == theirs[:-1]
        assert ours[-1] == pytest.approx(theirs[-1], rel=1e-3)
