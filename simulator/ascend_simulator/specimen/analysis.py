"""Rows of analysis.db: how each step divides, and where communication spent its time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ascend_ref.db.encode.habits import UINT32_NONE, Habits
from ascend_ref.derive.group_hash import group_hash
from ascend_ref.derive.transit import HCCS, LARGE_PACKET_BYTES

from .communication import MASTER_PLANE
from .intervals import Interval, difference, total, union
from .tasks import Row, Rows, busy
from .world import FIRST_STEP, Collective, Task, Transfer, World

NS_PER_US = 1_000
NS_PER_MS = 1_000_000
BYTES_PER_MB = 1_000_000
MATRIX_NAMES = {"allReduce": "allreduce", "send": "send", "receive": "receive"}


def analysis_tables(world: World, habits: Habits) -> dict[str, Rows]:
    """Rows of the four tables of analysis.db."""
    return {
        "StepTraceTime": [
            _step(world, device, step, habits)
            for device in world.busy_devices
            for step in range(len(world.steps))
        ],
        "CommAnalyzerTime": [_times(item, world, habits) for item in world.collectives],
        "CommAnalyzerBandwidth": [
            row for item in world.collectives for row in _bandwidths(item, world)
        ],
        "CommAnalyzerMatrix": list(_matrix(world)),
    }


def _step(world: World, device: int, step: int, habits: Habits) -> Row:
    """One StepTraceTime row; the identities of db-schema.md 6 hold exactly in ns."""
    computing, communicating = busy(world, device, habits, step)
    covered = union(computing + communicating)
    alone = total(difference(communicating, computing))
    bubble = sum(
        total([operator.span(habits.masters_bound)])
        for operator in world.collectives
        if (operator.device, operator.step, operator.kind) == (device, step, "receive")
    )
    span = total(_hull(covered))
    lengths = {
        "computing": total(computing),
        "communication_not_overlapped": alone,
        "overlapped": total(communicating) - alone,
        "communication": total(communicating),
        "free": span - total(covered),
        "stage": span - bubble,
        "bubble": bubble,
        "communication_not_overlapped_and_exclude_receive": alone - bubble,
        "preparing": covered[0][0] - world.steps[step][0],
    }
    micros: Row = {name: length / NS_PER_US for name, length in lengths.items()}
    return {"deviceId": device, "step": str(FIRST_STEP + step), **micros}


def _hull(intervals: list[Interval]) -> list[Interval]:
    return [(intervals[0][0], intervals[-1][1])] if intervals else []


def _key(operator: Collective, world: World) -> Row:
    return {
        "hccl_op_name": operator.name,
        "group_name": group_hash(world.group),
        "step": f"step{FIRST_STEP + operator.step}",
        "type": "collective" if operator.kind == "allReduce" else "p2p",
    }


def _moves(task: Task) -> bool:
    """Whether a task carries data to another rank."""
    transfer = task.transfer
    return bool(transfer and transfer.size and transfer.link != "ON_CHIP")


def _length(tasks: list[Task]) -> int:
    return sum(task.end - task.start for task in tasks)


def _parts(operator: Collective) -> Iterator[tuple[Task, Transfer]]:
    for task in operator.tasks:
        if task.transfer:
            yield task, task.transfer


def _times(operator: Collective, world: World, habits: Habits) -> Row:
    """Transit and waiting on the master plane; idle is the rest."""
    start, end = operator.span(habits.masters_bound)
    master = [task for task, transfer in _parts(operator) if transfer.plane == MASTER_PLANE]
    moving = [task for task in master if _moves(task)]
    waiting = [task for task in master if task.transfer and task.transfer.kind == "Notify_Wait"]
    first_move = min((task.start for task in moving), default=end)
    transit, wait = _length(moving), _length(waiting)
    return {
        **_key(operator, world),
        "start_timestamp": start / NS_PER_US,
        "elapse_time": (end - start) / NS_PER_MS,
        "transit_time": transit / NS_PER_MS,
        "wait_time": wait / NS_PER_MS,
        "synchronization_time": _length([task for task in waiting if task.start < first_move])
        / NS_PER_MS,
        "idle_time": (end - start - transit - wait) / NS_PER_MS,
    }


def _rate(size: int, length: int) -> Row:
    megabytes, milliseconds = size / BYTES_PER_MB, length / NS_PER_MS
    return {
        "transit_size": megabytes,
        "transit_time": milliseconds,
        "bandwidth": round(megabytes / milliseconds, 4) if length else 0,
    }


def _bandwidths(operator: Collective, world: World) -> Iterator[Row]:
    """Per link one row for each packet size, then the sum of the links as SDMA."""
    by_link: dict[str, dict[int, list[Task]]] = {}
    for task, transfer in _parts(operator):
        if _moves(task):
            by_link.setdefault(transfer.link, {}).setdefault(transfer.size, []).append(task)
    size_sum = length_sum = 0
    for link, by_size in sorted(by_link.items()):
        size = sum(packet * len(tasks) for packet, tasks in by_size.items())
        length = sum(_length(tasks) for tasks in by_size.values())
        size_sum, length_sum = size_sum + size, length_sum + length
        packets = sum(len(tasks) for tasks in by_size.values())
        large = sum(
            len(tasks) for packet, tasks in by_size.items() if packet > LARGE_PACKET_BYTES[HCCS]
        )
        for packet, tasks in by_size.items():
            yield {
                **_key(operator, world),
                "transport_type": link,
                **_rate(size, length),
                "large_packet_ratio": round(large / packets, 4),
                "package_size": packet / BYTES_PER_MB,
                "count": len(tasks),
                "total_duration": _length(tasks) / NS_PER_MS,
            }
    if by_link:
        yield {
            **_key(operator, world),
            "transport_type": "SDMA",
            **_rate(size_sum, length_sum),
            "large_packet_ratio": 0,
            "package_size": 0,
            "count": 0,
            "total_duration": 0,
        }


class Flow(NamedTuple):
    """What one operator moved between one pair of ranks; size in Byte, length in ns."""

    operator: Collective
    size: int
    length: int
    transport: str


def _matrix(world: World) -> Iterator[Row]:
    """Per kind of operator and link: the fastest, the middle, the three slowest and the sum."""
    for step in range(len(world.steps)):
        for kind, name in MATRIX_NAMES.items():
            links: dict[tuple[int, int], list[Flow]] = {}
            for operator in world.collectives:
                if (operator.step, operator.kind) == (step, kind):
                    for pair, flow in _flows(operator).items():
                        links.setdefault(pair, []).append(flow)
            for pair, flows in links.items():
                flows.sort(key=lambda flow: -flow.size / flow.length)
                for suffix, place in _ranking(len(flows)):
                    operator_name = flows[place].operator.name
                    yield _matrix_row(world, f"{name}-{suffix}", pair, flows[place], operator_name)
                total_flow = flows[0]._replace(
                    size=sum(flow.size for flow in flows),
                    length=sum(flow.length for flow in flows),
                )
                yield _matrix_row(world, f"{name}-total", pair, total_flow, "")


def _flows(operator: Collective) -> dict[tuple[int, int], Flow]:
    """The flow of each pair of ranks; local work counts from the rank to itself."""
    flows: dict[tuple[int, int], Flow] = {}
    for task, transfer in _parts(operator):
        if not transfer.size:
            continue
        target = transfer.source if transfer.target == UINT32_NONE else transfer.target
        transport = "LOCAL" if transfer.link == "ON_CHIP" else transfer.link
        pair = (transfer.source, target)
        flow = flows.get(pair, Flow(operator, 0, 0, transport))
        size, length = flow.size + transfer.size, flow.length + task.end - task.start
        flows[pair] = flow._replace(size=size, length=length)
    return flows


def _ranking(count: int) -> list[tuple[str, int]]:
    places = [("top1", 0), ("middle", count // 2), ("bottom1", count - 1)]
    return places + [(f"bottom{n}", count - n) for n in (2, 3) if count >= n]


def _matrix_row(
    world: World, name: str, pair: tuple[int, int], flow: Flow, operator_name: str
) -> Row:
    return {
        **_key(flow.operator, world),
        "hccl_op_name": name,
        "src_rank": str(pair[0]),
        "dst_rank": str(pair[1]),
        "transport_type": flow.transport,
        **_rate(flow.size, flow.length),
        "op_name": operator_name,
    }
