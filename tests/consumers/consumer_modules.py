"""What the recipes of row 11 about ranges, modules, experts and masking write about a profile."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from pathlib import Path

from consumer_differences import different
from consumer_ranks import Rank, Row, metadata, one, rows, tables

NO_LINK = 4294967295
PARALLEL_TYPES = (("dp", "edp"), ("edp",), ("dp",), ("ep",), ("pp",), ("mp",), ("tp",))
LAUNCHED = """
    SELECT CAST(p.startNs AS INTEGER), CAST(p.endNs AS INTEGER), k.startNs, k.endNs
    FROM ({kernels}) k JOIN CONNECTION_IDS USING (connectionId)
    JOIN PYTORCH_API p ON p.connectionId = CONNECTION_IDS.id
"""
TASKS_OF = "SELECT connectionId, startNs, endNs FROM {table} JOIN TASK USING (globalTaskId)"
OPERATORS = "SELECT connectionId, startNs, endNs FROM COMMUNICATION_OP"
DOMAIN = """
    SELECT m.startNs, m.endNs, s.value FROM MSTX_EVENTS m JOIN STRING_IDS s ON s.id = m.message
    WHERE m.domainId IN (SELECT id FROM STRING_IDS WHERE value = ?)
"""
RANGES = f"""
    SELECT count(*), total(m.endNs - m.startNs), total(t.endNs - t.startNs)
    FROM MSTX_EVENTS m LEFT JOIN TASK t USING (connectionId)
    WHERE m.eventType = 2 AND m.connectionId <> {NO_LINK}
"""
RANGES_OF_RANK = """
    SELECT count(*), total(CannDurationNs), total(DeviceDurationNs) FROM MSTXMarkStats
    WHERE Rank = ?
"""
SPACING = 512
"""Beside a range without a task the tool keeps device times as reals, which lie 256 ns apart."""
MARKS = """
    SELECT count(*) / 2, coalesce(sum(CASE WHEN s.value LIKE '%\\_stop' ESCAPE '\\' THEN 1 ELSE -1
        END * (m.startNs - (SELECT min(startNs) FROM MSTX_EVENTS))), 0)
    FROM MSTX_EVENTS m JOIN STRING_IDS s ON s.id = m.message
    WHERE m.eventType = 3
        AND (s.value LIKE '%\\_start' ESCAPE '\\' OR s.value LIKE '%\\_stop' ESCAPE '\\')
"""
KERNEL_TABLES = ("COMPUTE_TASK_INFO", "COMMUNICATION_OP", "COMMUNICATION_SCHEDULE_TASK_INFO")
MODULES_OF_RANK = """
    SELECT total("totalKernelDuration(ns)") FILTER (WHERE module NOT LIKE '[Backward]%'),
        total("totalKernelDuration(ns)")
    FROM ModuleStatistic WHERE rankID = ?
"""
KERNELS_OF_RANK = """
    SELECT DISTINCT "kernel_start(ns)", "kernel_end(ns)", flops_op_name, actual_tflops
    FROM OperatorMFU WHERE rank_id = ?
"""
PEAKS_OF_RANK = "SELECT DISTINCT chip_peak_tflops FROM OperatorMFU WHERE rank_id = ?"
OPERATIONS_PER_CYCLE = (8192, 16384)
EXPERTS = """
    SELECT s.value FROM COMPUTE_TASK_INFO c JOIN TASK USING (globalTaskId)
    JOIN STRING_IDS s ON s.id = c.inputShapes JOIN STRING_IDS o ON o.id = c.opType
    WHERE o.value = 'GroupedMatmul'
"""


def ranges(ranks: Sequence[Rank], result: Path) -> list[str]:
    """mstx_sum: ranges that are linked to the device, and pairs of marks.

    The tool gives marks no time on the device: it looks for the tasks in the wrong way.
    """
    lines = []
    for rank in ranks:
        what = f"mstx_sum, MSTXMarkStats of rank {rank.number}"
        ((count, host, device),) = rows(rank.profiler, RANGES)
        ((pairs, between),) = rows(rank.profiler, MARKS)
        ((*found, on_device),) = rows(result, RANGES_OF_RANK, [rank.number])
        lines += different(what, found, [count + pairs, host + between])
        if abs(on_device - device) > SPACING * count:
            lines += different(f"{what}, on the device", on_device, device)
    nameless = one(result, "SELECT count(*) FROM MSTXMarkStats WHERE coalesce(Name, '') = ''")
    return [*lines, *different("mstx_sum, ranges without a name", nameless, 0)]


def modules(ranks: Sequence[Rank], result: Path) -> list[str]:
    """module_statistic: the kernels of the operators that the host calls inside a module.

    The tool makes modules of the backward pass by itself. Where one of them holds a module that
    was called again, its kernels count as backward: so ours lie between its forward and all.
    """
    lines = []
    for rank in ranks:
        outer = _outermost(rows(rank.profiler, DOMAIN, ["Module"]))
        inside = 0
        for called, returned, start, end in _launched(rank, *KERNEL_TABLES):
            place = bisect_right(outer, (called, math.inf)) - 1
            if place >= 0 and returned <= outer[place][1]:
                inside += end - start
        ((forward, everything),) = rows(result, MODULES_OF_RANK, [rank.number])
        if not 0 < forward <= inside <= everything:
            told = f"{forward:.0f} ns forward and {everything:.0f} ns in all"
            lines.append(f"module_statistic of rank {rank.number}: {told}, not {inside} ns")
    return lines


def utilization(ranks: Sequence[Rank], result: Path) -> list[str]:
    """operator_mfu: each kernel of an operator whose FLOPs are told, against the peak."""
    lines = []
    for rank in ranks:
        what = f"operator_mfu of rank {rank.number}"
        launched = sorted(_launched(rank, "COMPUTE_TASK_INFO"))
        rates = {}
        for begin, leave, message in rows(rank.profiler, DOMAIN, ["mfu_flops"]):
            told = re.fullmatch(r"(\d+)-(.+)", message)
            if not told:
                lines.append(f"{what}: the message {message!r} tells no FLOPs")
                continue
            first = bisect_left(launched, (begin,))
            last = bisect_right(launched, (leave, math.inf))
            for _, _, start, end in launched[first:last]:
                if start < end:
                    rates[start, end, told[2]] = int(told[1]) / (end - start) / 1e3
        found = {
            (start, end, name): rate
            for start, end, name, rate in rows(result, KERNELS_OF_RANK, [rank.number])
        }
        lines += different(f"{what}, kernels", found.keys(), rates.keys())
        wrong = [key for key in rates.keys() & found.keys() if abs(found[key] - rates[key]) > 0.01]
        lines += different(f"{what}, kernels with another rate", wrong, [])
        peaks = rows(result, PEAKS_OF_RANK, [rank.number])
        lines += different(f"{what}, peak", {peak for (peak,) in peaks} - _peaks(rank), set())
    return lines


def experts(ranks: Sequence[Rank], result: Path) -> list[str]:
    """ep_load_balance: tokens of each rank, and their spread in each group of experts."""
    tokens = {}
    for rank in ranks:
        groups = (metadata(rank, "parallel_group_info") or {}).values()
        held = [group["global_ranks"] for group in groups if group["group_name"] == "exp"]
        group = ",".join(map(str, held[0])) if held else ""
        shapes = [shape for (shape,) in rows(rank.profiler, EXPERTS)]
        tokens[rank.number, group] = sum(map(_tokens, shapes))
    spread: dict[str, list[int]] = {}
    for (_, group), count in tokens.items():
        spread.setdefault(group, []).append(count)
    summed = rows(result, "SELECT rank, epRanks, inputShapesSummary FROM EPTokensSummary")
    found = {(rank, group): count for rank, group, count in summed}
    return [
        *different("ep_load_balance, EPTokensSummary", found, tokens),
        *different(
            "ep_load_balance, TopEPTokensInfo",
            dict(rows(result, "SELECT epRanks, tokensDiff FROM TopEPTokensInfo")),
            {group: max(counts) - min(counts) for group, counts in spread.items()},
        ),
    ]


def masking(ranks: Sequence[Rank], result: Path) -> list[str]:
    """computational_op_masking: communication time of each kind of parallelism in each step."""
    expected: dict[tuple[int, str], list[int]] = {}
    for rank in ranks:
        groups = metadata(rank, "parallel_group_info") or {}
        spent = [
            (groups.get(group, {}).get("group_name"), start, end)
            for group, start, end in rows(
                rank.profiler,
                "SELECT s.value, startNs, endNs FROM COMMUNICATION_OP "
                "JOIN STRING_IDS s ON s.id = groupName",
            )
        ]
        for kinds in PARALLEL_TYPES:
            times = [(start, end) for kind, start, end in spent if kind in kinds]
            if not times:
                continue
            for step, first, last in rows(
                rank.profiler, "SELECT id, startNs, endNs FROM STEP_TIME WHERE endNs > startNs"
            ):
                inside = [(start, end) for start, end in times if end > first and start < last]
                count, total = expected.get((step, "+".join(kinds)), [0, 0])
                expected[step, "+".join(kinds)] = [count + 1, total + _covered(inside)]
    found = rows(
        result,
        "SELECT stepId, parallelType, count(*), total(totalCommunicationOperatorTime) "
        "FROM ComputationalOperatorMaskingLinearity GROUP BY 1, 2",
    )
    return different(
        "computational_op_masking", {(step, kind): row for step, kind, *row in found}, expected
    )


def _launched(rank: Rank, *kernel_tables: str) -> list[Row]:
    """Call and return of the framework operators, start and end of the kernels they launched."""
    sources = [
        OPERATORS if table == "COMMUNICATION_OP" else TASKS_OF.format(table=table)
        for table in kernel_tables
        if table in tables(rank.profiler)
    ]
    return rows(rank.profiler, LAUNCHED.format(kernels=" UNION ALL ".join(sources)))


def _outermost(scopes: Iterable[Row]) -> list[tuple[int, float]]:
    """The ranges that lie in no other, in their order."""
    outer: list[tuple[int, float]] = []
    for start, end, *_ in sorted(scopes, key=lambda scope: (scope[0], -scope[1])):
        if not outer or end > outer[-1][1]:
            outer.append((start, end))
    return outer


def _peaks(rank: Rank) -> set[float]:
    """The TFLOPS that the device can reach, with 16 and with 8 bits."""
    path = min(rank.folder.rglob("device_*/info.json.*"))
    (device, *_) = json.loads(path.read_text())["DeviceInfo"]
    cycles = int(device["ai_core_num"]) * float(device["aic_frequency"])
    return {round(cycles * operations / 1e6, 2) for operations in OPERATIONS_PER_CYCLE}


def _tokens(shapes: str) -> int:
    """The first dimensions of the operands before the weight and the list of groups."""
    operands = [operand for operand in shapes.strip('"').split(";") if operand]
    return sum(int(operand.split(",")[0]) for operand in operands[:-2])


def _covered(times: Iterable[tuple[int, int]]) -> int:
    """The length of the union."""
    total, reached = 0, None
    for start, end in sorted(times):
        begin = start if reached is None else max(start, reached)
        total += max(0, end - begin)
        reached = max(end, begin)
    return total
