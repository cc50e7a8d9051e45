"""Derived figures recomputed without the generator, in the slowest and plainest way."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

Row = dict[str, object]


def rows(connection: sqlite3.Connection, query: str) -> list[Row]:
    cursor = connection.execute(query)
    names = [item[0] for item in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


class Slices:
    """Time cut at every bound, so that sets of slices do the interval algebra."""

    def __init__(self, *lists: list[tuple[int, int]]) -> None:
        self.bounds = sorted({bound for items in lists for pair in items for bound in pair})

    def of(self, intervals: list[tuple[int, int]]) -> set[int]:
        return {
            place
            for place, (start, end) in enumerate(zip(self.bounds, self.bounds[1:], strict=False))
            if any(low <= start and end <= high for low, high in intervals)
        }

    def length(self, slices: set[int]) -> int:
        return sum(self.bounds[place + 1] - self.bounds[place] for place in slices)


def busy(connection: sqlite3.Connection, step: Row | None = None) -> dict[int, tuple[list, list]]:
    """Compute and communication intervals by device, of one step or of all."""
    where = f"AND {{}} BETWEEN {step['startNs']} AND {step['endNs']}" if step else ""
    devices: dict[int, tuple[list, list]] = {
        row[0]: ([], []) for row in connection.execute("SELECT DISTINCT deviceId FROM TASK")
    }
    for device, start, end in connection.execute(
        "SELECT deviceId, startNs, endNs FROM TASK JOIN COMPUTE_TASK_INFO USING (globalTaskId) "
        "WHERE 1 " + where.format("startNs")
    ):
        devices[device][0].append((start, end))
    for device, start, end in connection.execute(
        "SELECT DISTINCT t.deviceId, o.startNs, o.endNs FROM COMMUNICATION_OP o "
        "JOIN COMMUNICATION_TASK_INFO USING (opId) JOIN TASK t USING (globalTaskId) "
        "WHERE 1 " + where.format("o.startNs")
    ):
        devices[device][1].append((start, end))
    return devices


def counter_faults(connection: sqlite3.Connection) -> Iterator[str]:
    """Ratio = time / total, cycles = us x MHz x blocks (db-schema.md 4.12)."""
    compute = connection.execute("SELECT * FROM COMPUTE_TASK_INFO LIMIT 0").description
    blocks = "blockNum" if "blockNum" in {item[0] for item in compute} else "blockDim"
    (frequency,) = connection.execute("SELECT DISTINCT freq FROM AICORE_FREQ").fetchone()
    found: dict[int, dict[str, float]] = {}
    for task, name, value in connection.execute(
        "SELECT globalTaskId, s.value, p.value "
        "FROM TASK_PMU_INFO p JOIN STRING_IDS s ON s.id = name"
    ):
        found.setdefault(task, {})[name] = value
    for task, metrics in found.items():
        (count, length) = connection.execute(
            f"SELECT {blocks}, endNs - startNs FROM COMPUTE_TASK_INFO "
            "JOIN TASK USING (globalTaskId) WHERE globalTaskId = ?",
            (task,),
        ).fetchone()
        for prefix in ("aic", "aiv"):
            total = metrics[f"{prefix}_total_time"]
            cycles = total / 1000 * frequency * count
            if abs(metrics[f"{prefix}_total_cycles"] - cycles) > 1e-6 * max(cycles, 1):
                yield f"cycles of task {task}"
            if total > length:
                yield f"task {task} counted longer than it ran"
            for name, value in metrics.items():
                if name.startswith(prefix) and name.endswith("_ratio"):
                    time = metrics[name.removesuffix("_ratio") + "_time"]
                    if value != (time / total if total else 0) or not 0 <= value <= 1:
                        yield f"{name} of task {task}"
        if not (metrics["aic_total_time"] == 0) ^ (metrics["aiv_total_time"] == 0):
            yield f"task {task} ran on both or no kinds of core"


def memory_faults(connection: sqlite3.Connection) -> Iterator[str]:
    """I34: PTA+GE = last PTA + last GE; OP_MEMORY and NPU_OP_MEM agree with MEMORY_RECORD."""
    last: dict[str, tuple[int, int, int]] = {}
    records = connection.execute(
        "SELECT s.value, timestamp, totalAllocated, totalReserved, totalActive "
        "FROM MEMORY_RECORD m JOIN STRING_IDS s ON s.id = component ORDER BY m.rowid"
    ).fetchall()
    seen = set()
    for place, (component, time, *totals) in enumerate(records):
        if component == "PTA+GE":
            sums = tuple(sum(column) for column in zip(*last.values(), strict=True))
            if sums != tuple(totals):
                yield f"PTA+GE at {time}: {totals} is not {sums}"
        elif component in ("PTA", "GE"):
            last[component] = tuple(totals)
            seen.add((component, time, *totals))
            if records[place + 1][:2] != ("PTA+GE", time):
                yield f"{component} at {time} without its sum"
    for kind, prefix in (("allocation", "allocation"), ("release", "release")):
        for row in connection.execute(
            f"SELECT CASE WHEN streamPtr IS NULL THEN 'GE' ELSE 'PTA' END, {kind}Time, "
            f"{prefix}TotalAllocated, {prefix}TotalReserved, ifnull({prefix}TotalActive, 0) "
            f"FROM OP_MEMORY WHERE {kind}Time IS NOT NULL"
        ):
            if row not in seen:
                yield f"OP_MEMORY {row} is not in MEMORY_RECORD"
    for row in connection.execute(
        "SELECT 'GE', timestampNs, totalAllocate, totalReserve, 0 FROM NPU_OP_MEM"
    ):
        if row not in seen:
            yield f"NPU_OP_MEM {row} is not in MEMORY_RECORD"


def overlap_faults(connection: sqlite3.Connection) -> Iterator[str]:
    """OVERLAP_ANALYSIS against the sets of slices that its rules give."""
    written = rows(connection, "SELECT * FROM OVERLAP_ANALYSIS ORDER BY rowid")
    if [row["id"] for row in written] != list(range(len(written))):
        yield "ids not dense"
    if written != sorted(written, key=lambda row: (row["deviceId"], row["type"], row["startNs"])):
        yield "rows not in order of device, type and time"
    for device, (computing, communicating) in busy(connection).items():
        (window,) = connection.execute(
            "SELECT min(startNs), max(endNs) FROM TASK WHERE streamId <> 0 AND deviceId = ?",
            (device,),
        )
        slices = Slices(computing, communicating, [window])
        first, second = slices.of(computing), slices.of(communicating)
        expected = (first, second, second - first, slices.of([window]) - first - second)
        for kind, wanted in enumerate(expected):
            found = [
                (row["startNs"], row["endNs"])
                for row in written
                if (row["deviceId"], row["type"]) == (device, kind)
            ]
            if slices.of(found) != wanted or sum(b - a for a, b in found) != slices.length(wanted):
                yield f"type {kind} of device {device}"


def step_faults(profile: sqlite3.Connection, analysis: sqlite3.Connection) -> Iterator[str]:
    """StepTraceTime against the intervals of the profiler database, in us (db-schema.md 6)."""
    written = {row["step"]: row for row in rows(analysis, "SELECT * FROM StepTraceTime")}
    steps = rows(profile, "SELECT * FROM STEP_TIME")
    if sorted(written) != sorted(str(step["id"]) for step in steps):
        yield "steps differ"
    for step in steps:
        ((computing, communicating),) = busy(profile, step).values()
        slices = Slices(computing, communicating)
        first, second = slices.of(computing), slices.of(communicating)
        begin, end = slices.bounds[0], slices.bounds[-1]
        (bubble,) = profile.execute(
            "SELECT total(endNs - startNs) FROM COMMUNICATION_OP JOIN STRING_IDS ON id = opName "
            "WHERE value LIKE 'hcom_receive%' AND startNs BETWEEN ? AND ?",
            (step["startNs"], step["endNs"]),
        ).fetchone()
        alone = slices.length(second - first)
        expected = {
            "computing": slices.length(first),
            "communication": slices.length(second),
            "communication_not_overlapped": alone,
            "overlapped": slices.length(second & first),
            "free": end - begin - slices.length(first | second),
            "stage": end - begin - bubble,
            "bubble": bubble,
            "communication_not_overlapped_and_exclude_receive": max(alone - bubble, 0),
            "preparing": begin - step["startNs"],
        }
        for name, length in expected.items():
            micros = written[str(step["id"])][name]
            if abs(micros * 1000 - length) > 1e-3:
                yield f"{name} of step {step['id']}: {micros} us for {length} ns"


def analyzer_faults(profile: sqlite3.Connection, analysis: sqlite3.Connection) -> Iterator[str]:
    """The CommAnalyzer identities of db-schema.md 6, and their agreement with the operators."""
    operators = {
        row["value"]: row
        for row in rows(profile, "SELECT * FROM COMMUNICATION_OP JOIN STRING_IDS ON id = opName")
    }
    groups = rows(
        profile, "SELECT DISTINCT value FROM COMMUNICATION_OP JOIN STRING_IDS ON id = groupName"
    )
    hashed = "".join(str(_hash(row["value"])) for row in groups)
    times = rows(analysis, "SELECT * FROM CommAnalyzerTime")
    if sorted(row["hccl_op_name"] for row in times) != sorted(operators):
        yield "operators differ"
    for row in times:
        operator = operators[row["hccl_op_name"]]
        if abs(row["elapse_time"] * 1e6 - (operator["endNs"] - operator["startNs"])) > 1:
            yield f"elapse_time of {row}"
        if abs(row["start_timestamp"] - operator["startNs"] / 1000) > 0.25:
            yield f"start_timestamp of {row}"
        parts = row["transit_time"] + row["wait_time"] + row["idle_time"]
        if abs(row["elapse_time"] - parts) > 1e-9 or row["idle_time"] < 0:
            yield f"parts of {row}"
        if row["synchronization_time"] > row["wait_time"]:
            yield f"synchronization of {row}"
        if row["hccl_op_name"].split("_")[-3] != hashed[-3:] or row["group_name"] != hashed:
            yield f"group of {row}"
    for table in ("CommAnalyzerBandwidth", "CommAnalyzerMatrix"):
        for row in rows(analysis, f"SELECT * FROM {table}"):
            if abs(row["bandwidth"] - row["transit_size"] / row["transit_time"]) > 5.1e-5:
                yield f"bandwidth of {row}"
    links = "hccl_op_name, transport_type, transit_size"
    for row in rows(
        analysis,
        f"SELECT {links}, total(package_size * count) AS packets, total(total_duration) AS spent, "
        f"transit_time FROM CommAnalyzerBandwidth WHERE transport_type <> 'SDMA' GROUP BY {links}",
    ):
        if abs(row["packets"] - row["transit_size"]) > 1e-9:
            yield f"packets of {row}"
        if abs(row["spent"] - row["transit_time"]) > 1e-9:
            yield f"durations of {row}"
    for row in rows(
        analysis,
        "SELECT s.*, (SELECT total(transit_size) FROM ("
        "SELECT DISTINCT transport_type, transit_size FROM CommAnalyzerBandwidth l "
        "WHERE l.hccl_op_name = s.hccl_op_name AND "
        "l.transport_type NOT IN ('SDMA', 'RDMA'))) AS links "
        "FROM CommAnalyzerBandwidth s WHERE transport_type = 'SDMA'",
    ):
        if abs(row["links"] - row["transit_size"]) > 1e-9 or row["package_size"] or row["count"]:
            yield f"SDMA row {row}"


def _hash(group: str) -> int:
    high = low = 0
    for character in group:
        high, low = (29 * high + ord(character)) % 2**32, (131 * low + ord(character)) % 2**32
    return (high << 32) + low
