"""Figures that tell whether a PyTorch profile looks like a real one, each by plain SQL.

    figures(Path("ascend_pytorch_profiler_0.db"))

Every figure is normalised (a share, a mean, a quantile, a count per step or per operator), so that
profiles of different length compare. Only what starts inside the profiled steps is counted; without
steps, everything is. A figure whose tables are absent or empty is left out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

NO_CONTEXT = 4_294_967_295
"""TASK.contextId of what is not a sub-task of an FFTS+ task."""

QUANTILES = {"p10": 0.1, "p50": 0.5, "p90": 0.9, "max": 1.0}
"""Nearest rank of the n - 1 intervals between n values, halves upwards."""

SAMPLED = {
    "ACC_PMU": ("accId",),
    "DDR": (),
    "HBM": ("hbmId", "type"),
    "HCCS": (),
    "LLC": ("llcId", "mode"),
    "NETDEV_STATS": (),
    "NIC": ("funcId",),
    "NPU_MEM": ("type",),
    "NPU_MODULE_MEM": ("moduleId",),
    "PCIE": (),
    "QOS": ("eventName",),
    "ROCE": ("funcId",),
    "SOC_BANDWIDTH_LEVEL": (),
}
"""Sampled tables and the columns that, next to deviceId, name the unit sampled."""

LEVELS = {20_000: "acl", 15_000: "model", 10_000: "node", 5_500: "hccl", 5_000: "runtime"}
"""ENUM_API_TYPE.id; 5500 is called communication by later exporters."""

FRAMEWORK_OP = 50_001
MOST_LAUNCHES = 5
"""Operators with this many launches or more are one class."""


@dataclass(frozen=True)
class Figure:
    """One number of a profile; equal names of two profiles compare."""

    name: str
    unit: str
    value: float


def figures(path: Path) -> list[Figure]:
    """All figures of one ``ascend_pytorch_profiler_*.db``, in the order of the table printed."""
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?immutable=1", uri=True)) as connection:
        profile = _Profile(connection)
        return [
            *_task_shares(profile),
            *_launches(profile),
            *_calls(profile),
            *_small_tasks(profile),
            *_durations(profile),
            *_gaps(profile),
            *_pmu(profile),
            *_compute_shares(profile),
            *_memory(profile),
            *_intervals(profile),
        ]


class _Profile:
    """A database, its number of steps and the window they span."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        names = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        self.tables = frozenset(str(name) for (name,) in names)
        self.steps = 1
        low, high = -(1 << 62), 1 << 62
        if "STEP_TIME" in self.tables:
            count, first, last = self.row(
                "SELECT COUNT(*), MIN(startNs), MAX(endNs) FROM STEP_TIME"
            )
            if count:
                self.steps, low, high = int(count), int(first), int(last)
        self._bounds = f"BETWEEN {low} AND {high}"

    def has(self, *tables: str) -> bool:
        """Whether all these tables exist."""
        return self.tables.issuperset(tables)

    def within(self, start: str) -> str:
        """The condition that an event, by the SQL of its start, belongs to the steps."""
        return f"CAST({start} AS INTEGER) {self._bounds}"

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """All rows of a query."""
        return self._connection.execute(query).fetchall()

    def row(self, query: str) -> tuple[float, ...]:
        """The single row of a query of aggregates, NULL as zero."""
        return tuple(value or 0 for value in self._connection.execute(query).fetchone())

    def quantiles(self, query: str) -> Iterator[tuple[str, str, float]]:
        """``(kind, quantile, value)`` of a query whose columns are ``kind`` and ``value``."""
        picks = ", ".join(
            f"MAX(CASE WHEN i = CAST((n - 1) * {share} + 0.5 AS INTEGER) THEN value END)"
            for share in QUANTILES.values()
        )
        ranked = (
            "SELECT kind, value, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY value) - 1 AS i,"
            f" COUNT(*) OVER (PARTITION BY kind) AS n FROM ({query})"
        )
        picked = f"SELECT kind, {picks} FROM ({ranked}) GROUP BY kind ORDER BY MAX(n) DESC, kind"
        for kind, *values in self._connection.execute(picked):
            for quantile, value in zip(QUANTILES, values, strict=True):
                yield str(kind), quantile, float(value)


def _task_shares(profile: _Profile) -> Iterator[Figure]:
    """Tasks per step, and the share of every task type."""
    if not profile.has("TASK", "STRING_IDS"):
        return
    counted = profile.rows(
        "SELECT value, COUNT(*) FROM TASK JOIN STRING_IDS ON id = taskType"
        f" WHERE {profile.within('startNs')} GROUP BY value ORDER BY 2 DESC, 1"
    )
    total = sum(int(str(count)) for _, count in counted)
    yield Figure("tasks per step", "tasks", total / profile.steps)
    for kind, count in counted:
        yield Figure(f"task type share: {kind}", "share", int(str(count)) / total)


def _launches(profile: _Profile) -> Iterator[Figure]:
    """Launches per step and per framework operator, and how many operators have 1, 2, ... of them.

    An operator is a framework row that carries connections of its own: nested rows count once.
    """
    if not profile.has("PYTORCH_API", "CONNECTION_IDS", "CANN_API", "STRING_IDS"):
        return
    launch = "(SELECT id FROM STRING_IDS WHERE value = 'launch')"
    window = profile.within("startNs")
    (total,) = profile.row(f"SELECT COUNT(*) FROM CANN_API WHERE name IN {launch} AND {window}")
    (operators,) = profile.row(
        f"SELECT COUNT(*) FROM PYTORCH_API WHERE type = {FRAMEWORK_OP} AND {window}"
    )
    of_operators = (
        "SELECT COUNT(*) AS launches FROM PYTORCH_API op"
        " JOIN CONNECTION_IDS link ON link.id = op.connectionId"
        f" JOIN CANN_API call ON call.connectionId = link.connectionId AND call.name IN {launch}"
        f" WHERE op.type = {FRAMEWORK_OP} AND {profile.within('op.startNs')} GROUP BY op.rowid"
    )
    launching, linked = profile.row(f"SELECT COUNT(*), SUM(launches) FROM ({of_operators})")
    yield Figure("framework operators per step", "operators", operators / profile.steps)
    yield Figure("launches per step", "launches", total / profile.steps)
    if operators:
        yield Figure("launches per framework operator", "launches", total / operators)
    if not launching:
        return
    yield Figure("launches per launching operator", "launches", linked / launching)
    for several in range(1, MOST_LAUNCHES + 1):
        relation, more = (">=", " or more") if several == MOST_LAUNCHES else ("=", "")
        (count,) = profile.row(
            f"SELECT COUNT(*) FROM ({of_operators}) WHERE launches {relation} {several}"
        )
        name = f"share of launching operators with {several}{more}"
        yield Figure(name, "share", count / launching)


def _calls(profile: _Profile) -> Iterator[Figure]:
    """CANN calls of every level per launch."""
    if not profile.has("CANN_API", "STRING_IDS"):
        return
    window = profile.within("startNs")
    (launches,) = profile.row(
        "SELECT COUNT(*) FROM CANN_API JOIN STRING_IDS ON id = name"
        f" WHERE value = 'launch' AND {window}"
    )
    if not launches:
        return
    for level, count in profile.rows(
        f"SELECT type, COUNT(*) FROM CANN_API WHERE {window} GROUP BY type ORDER BY type DESC"
    ):
        name = LEVELS.get(int(str(level)), str(level))
        yield Figure(f"CANN calls per launch: {name}", "calls", int(str(count)) / launches)


def _small_tasks(profile: _Profile) -> Iterator[Figure]:
    """Communication operators per step, and their small tasks by kind."""
    if not profile.has("COMMUNICATION_OP", "COMMUNICATION_TASK_INFO", "STRING_IDS"):
        return
    chosen = f"SELECT opId FROM COMMUNICATION_OP WHERE {profile.within('startNs')}"
    (operators,) = profile.row(f"SELECT COUNT(*) FROM ({chosen})")
    if not operators:
        return
    yield Figure("communication operators per step", "operators", operators / profile.steps)
    counted = profile.rows(
        "SELECT value, COUNT(*) FROM COMMUNICATION_TASK_INFO JOIN STRING_IDS ON id = taskType"
        f" WHERE opId IN ({chosen}) GROUP BY value ORDER BY 2 DESC, 1"
    )
    total = sum(int(str(count)) for _, count in counted)
    yield Figure("small tasks per communication operator", "tasks", total / operators)
    for kind, count in counted:
        name = f"small tasks per communication operator: {kind}"
        yield Figure(name, "tasks", int(str(count)) / operators)


def _durations(profile: _Profile) -> Iterator[Figure]:
    """Quantiles of the duration of every task type."""
    if not profile.has("TASK", "STRING_IDS"):
        return
    query = (
        "SELECT s.value AS kind, t.endNs - t.startNs AS value FROM TASK t"
        f" JOIN STRING_IDS s ON s.id = t.taskType WHERE {profile.within('t.startNs')}"
    )
    for kind, quantile, value in profile.quantiles(query):
        yield Figure(f"duration {quantile}: {kind}", "ns", value)


def _gaps(profile: _Profile) -> Iterator[Figure]:
    """Quantiles of the gaps on the compute stream of each device: the one with most operators."""
    if not profile.has("TASK", "COMPUTE_TASK_INFO"):
        return
    window = profile.within("startNs")
    streams = (
        "SELECT deviceId, streamId, ROW_NUMBER() OVER (PARTITION BY deviceId"
        " ORDER BY COUNT(*) DESC, streamId) AS place"
        f" FROM TASK JOIN COMPUTE_TASK_INFO USING (globalTaskId) WHERE {window} GROUP BY 1, 2"
    )
    query = (
        "SELECT '' AS kind, gap AS value FROM (SELECT t.startNs"
        " - LAG(t.endNs) OVER (PARTITION BY t.deviceId ORDER BY t.startNs, t.endNs) AS gap"
        f" FROM TASK t JOIN ({streams}) s ON s.place = 1"
        " AND s.deviceId = t.deviceId AND s.streamId = t.streamId"
        f" WHERE t.contextId = {NO_CONTEXT} AND {profile.within('t.startNs')})"
        " WHERE gap IS NOT NULL"
    )
    for _, quantile, value in profile.quantiles(query):
        yield Figure(f"gap on the compute stream {quantile}", "ns", value)


def _pmu(profile: _Profile) -> Iterator[Figure]:
    """Mean of every PMU ratio over the operators that kept the core busy, per core type."""
    if not profile.has("TASK_PMU_INFO", "COMPUTE_TASK_INFO", "TASK", "STRING_IDS"):
        return
    prefixed = "substr(s.value, 1, 4) IN ('aic_', 'aiv_')"
    named = (
        "SELECT p.globalTaskId, p.value AS amount,"
        f" CASE WHEN {prefixed} THEN substr(s.value, 1, 3) ELSE 'core' END AS core,"
        f" CASE WHEN {prefixed} THEN substr(s.value, 5) ELSE s.value END AS metric"
        " FROM TASK_PMU_INFO p JOIN STRING_IDS s ON s.id = p.name"
    )
    busy = f"SELECT * FROM ({named}) WHERE metric = 'total_time' AND amount > 0"
    joined = (
        " JOIN COMPUTE_TASK_INFO c ON c.globalTaskId = busy.globalTaskId"
        " JOIN STRING_IDS type ON type.id = c.taskType"
        " JOIN TASK t ON t.globalTaskId = busy.globalTaskId"
        f" WHERE t.endNs > t.startNs AND {profile.within('t.startNs')}"
    )
    covered = profile.rows(
        "SELECT type.value, busy.core, AVG(1.0 * busy.amount / (t.endNs - t.startNs))"
        f" FROM ({busy}) busy {joined} GROUP BY 1, 2 ORDER BY 1, 2"
    )
    for kind, core, mean in covered:
        yield Figure(f"PMU {kind} {core}: total time per duration", "ratio", float(str(mean)))
    ratios = profile.rows(
        "SELECT type.value, busy.core, pmu.metric, AVG(pmu.amount)"
        f" FROM ({busy}) busy JOIN ({named}) pmu ON pmu.globalTaskId = busy.globalTaskId"
        " AND pmu.core = busy.core AND (pmu.metric LIKE '%ratio' OR pmu.metric LIKE '%rate')"
        f" {joined} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    )
    for kind, core, metric, mean in ratios:
        yield Figure(f"PMU {kind} {core}: {metric}", "ratio", float(str(mean)))


def _compute_shares(profile: _Profile) -> Iterator[Figure]:
    """Time of operators per step, and the share of every core type in it."""
    if not profile.has("TASK", "COMPUTE_TASK_INFO", "STRING_IDS"):
        return
    summed = profile.rows(
        "SELECT s.value, SUM(t.endNs - t.startNs)"
        " FROM COMPUTE_TASK_INFO c JOIN TASK t USING (globalTaskId)"
        f" JOIN STRING_IDS s ON s.id = c.taskType WHERE {profile.within('t.startNs')}"
        " GROUP BY 1 ORDER BY 2 DESC, 1"
    )
    total = sum(int(str(time)) for _, time in summed)
    if not total:
        return
    yield Figure("operator time per step", "ns", total / profile.steps)
    for kind, time in summed:
        yield Figure(f"operator time share: {kind}", "share", int(str(time)) / total)


def _memory(profile: _Profile) -> Iterator[Figure]:
    """Peaks of every component, allocations per step and sizes of blocks.

    The framework's blocks have a stream, the graph engine's have none.
    """
    if profile.has("MEMORY_RECORD", "STRING_IDS"):
        for component, allocated, reserved in profile.rows(
            "SELECT value, MAX(totalAllocated), MAX(totalReserved) FROM MEMORY_RECORD"
            " JOIN STRING_IDS ON id = component GROUP BY 1 ORDER BY 1"
        ):
            yield Figure(f"memory allocated at most: {component}", "B", float(str(allocated)))
            yield Figure(f"memory reserved at most: {component}", "B", float(str(reserved)))
    if not profile.has("OP_MEMORY"):
        return
    block = (
        "SELECT CASE WHEN streamPtr IS NULL THEN 'GE' ELSE 'PTA' END AS kind, size AS value"
        f" FROM OP_MEMORY WHERE {profile.within('allocationTime')}"
    )
    for kind, count in profile.rows(f"SELECT kind, COUNT(*) FROM ({block}) GROUP BY 1 ORDER BY 1"):
        name = f"memory allocations per step: {kind}"
        yield Figure(name, "blocks", int(str(count)) / profile.steps)
    for kind, quantile, value in profile.quantiles(block):
        yield Figure(f"memory block size {quantile}: {kind}", "B", value)


def _intervals(profile: _Profile) -> Iterator[Figure]:
    """The usual time between two samples of a unit: median per unit, then median of the units."""
    for table, unit in SAMPLED.items():
        if table not in profile.tables:
            continue
        columns = ("deviceId", *unit)
        kind = " || ' ' || ".join(columns)
        spans = (
            f"SELECT {kind} AS kind, timestampNs - LAG(timestampNs)"
            f" OVER (PARTITION BY {', '.join(columns)} ORDER BY timestampNs) AS value FROM {table}"
        )
        spans = f"SELECT * FROM ({spans}) WHERE value IS NOT NULL"
        middles = sorted(value for _, name, value in profile.quantiles(spans) if name == "p50")
        if middles:
            yield Figure(f"sample interval: {table}", "ns", middles[len(middles) // 2])
