"""Checks of a database against the configuration of its capture in profiler_info."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..seen import configuration, stated_level
from ..session import Session
from . import Check, Fault, Places

COUNTING = "ai-core-task-based"
"""The switch of the counters of tasks."""

FRAMEWORK = "activity-cpu"
MEMORY = "profile-memory"
OF_THE_FRAMEWORK = (FRAMEWORK, MEMORY, "with-stack")
"""Switches whose data every program of a framework has; memory, if an operator takes any."""

ON_CORES = ("AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV")
"""Kinds of kernels that have counters; those of the AI CPU and copies have none."""

MISSED_OTHERWISE = {
    "PYTORCH_API": "CONNECTION_IDS.id",
    "CONNECTION_IDS": "PYTORCH_API.name",
    "MEMORY_RECORD": "OP_MEMORY.name",
    "PYTORCH_CALLCHAINS": "PYTORCH_API.callchainId",
}
"""Tables that other rules (LOS203, DB521) miss where this column has values."""


def _configured_tables(session: Session, _places: Places) -> Iterator[Fault]:
    """Tables that profiler_info says were on; one that another rule misses is left."""
    tables = session.schema.tables.values() if _is_on(session, FRAMEWORK) else ()
    on = {switch for switch in OF_THE_FRAMEWORK if _is_on(session, switch)}
    if session.rows.get("PYTORCH_API") and not _takes_memory(session):
        on.discard(MEMORY)
    due = (one.name for one in tables if on.intersection(one.switches))
    yield from (
        Fault(f"the capture was configured for {table}", table)
        for table in (*due, *_tables_of_counters(session))
        if table not in session.layout.tables
        and not _has_values(session, MISSED_OTHERWISE.get(table))
    )


def _is_on(session: Session, switch: str) -> bool:
    """Whether profiler_info states a switch, by a setting or an activity of one of its names."""
    settings = configuration(session)
    listed = settings.get("activities")
    activities = {f".{one}" for one in listed} if isinstance(listed, list) else set()
    return any(
        settings.get(name) is True or name.endswith(tuple(activities))
        for name in session.catalog.documents.switches[switch].spelled
    )


def _takes_memory(session: Session) -> bool:
    """Whether an operator makes a tensor of the device.

    The replay of a graph makes none, and takes no memory. Without a task, and without any that the
    queue was to launch, the operators are those of the host.
    """
    needed = ("PYTORCH_API.name", "PYTORCH_API.type", "STRING_IDS.id", "STRING_IDS.value")
    if not all(map(session.layout.holds, needed)):
        return True
    queued = f"SELECT 1 FROM main.PYTORCH_API WHERE type = {_kind(session, 'queue')} LIMIT 1"
    if not session.rows.get("TASK") and session.connection.execute(queued).fetchone() is None:
        return False
    makers = "SELECT id FROM main.STRING_IDS WHERE value GLOB 'aten::*empty*'"
    query = f"SELECT 1 FROM main.PYTORCH_API WHERE name IN ({makers}) LIMIT 1"
    return session.connection.execute(query).fetchone() is not None


def _kind(session: Session, name: str) -> int:
    """The id of a kind of calls."""
    return next(
        one.id for one in session.catalog.enums["ENUM_API_TYPE"].members if one.name == name
    )


def _has_values(session: Session, place: str | None) -> bool:
    if place is None or not session.layout.holds(place):
        return False
    table, column = place.split(".")
    query = f"SELECT 1 FROM main.{table} WHERE {column} IS NOT NULL LIMIT 1"
    return session.connection.execute(query).fetchone() is not None


def _tables_of_counters(session: Session) -> Iterator[str]:
    """Those of the counters of tasks, where a core was there to be counted."""
    if session.schema.carrier == "analysis" or not _has_kernels_of_cores(session):
        return
    counters = configuration(session).get("_aic_metrics")
    counts = isinstance(counters, str) and not counters.endswith("NONE")
    if not counts or session.rows.get("SAMPLE_PMU_TIMELINE") or not _counts_tasks(session):
        return
    level = stated_level(session)
    for table in session.schema.tables.values():
        if COUNTING in table.switches and str(level) in map(str, table.levels):
            yield table.name


def _has_kernels_of_cores(session: Session) -> bool:
    """Whether a kernel ran on AI cores."""
    needed = ("COMPUTE_TASK_INFO.taskType", "STRING_IDS.id", "STRING_IDS.value")
    if not all(map(session.layout.holds, needed)):
        return False
    cores = f"SELECT id FROM main.STRING_IDS WHERE value IN {ON_CORES}"
    query = f"SELECT 1 FROM main.COMPUTE_TASK_INFO WHERE taskType IN ({cores}) LIMIT 1"
    return session.connection.execute(query).fetchone() is not None


def _counts_tasks(session: Session) -> bool:
    """Whether the chips are ones whose counters of tasks all databases have."""
    if not session.layout.holds("NPU_INFO.name"):
        return False
    chips = session.texts("SELECT DISTINCT name AS value FROM main.NPU_INFO")
    return all(one.startswith(("Ascend910B", "Ascend910_93")) for one in chips)


def _scheduled_steps(session: Session, _places: Places) -> Iterator[Fault]:
    """Active steps by profiler_info, operators of the framework, and no step at all.

    Without calls of CANN there were no steps until 2025-09-16: torch_npu wrote them with
    analysis.db (``_db_parser.py``), and so it did of no level.
    """
    schedule = configuration(session).get("schedule")
    active = schedule.get("active") if isinstance(schedule, dict) else None
    if not isinstance(active, int) or active < 1 or "STEP_TIME" not in session.schema.tables:
        return
    if not session.rows.get("CANN_API") or stated_level(session) == "none":
        return
    if session.rows.get("PYTORCH_API") and not session.rows.get("STEP_TIME"):
        yield Fault(f"the schedule has {active:,} active steps, STEP_TIME none", "STEP_TIME")


def _configured_shapes(session: Session, _places: Places) -> Iterator[Fault]:
    """Operators of the framework without any shape or type that profiler_info asks for.

    What is not called by the dispatcher, as the parts of a graph's replay, has no inputs.
    """
    columns = [f"PYTORCH_API.{name}" for name in ("type", "name", "inputShapes", "inputDtypes")]
    if configuration(session).get("record_shapes") is not True:
        return
    if not all(map(session.layout.holds, (*columns, "STRING_IDS.id", "STRING_IDS.value"))):
        return
    dispatched = "SELECT id FROM main.STRING_IDS WHERE value GLOB 'aten::*'"
    operators = f"FROM main.PYTORCH_API WHERE type = {_kind(session, 'op')}"
    query = (
        f"SELECT min(rowid), count(*) {operators} HAVING count(*) > 0 AND NOT EXISTS "
        f"(SELECT 1 {operators} AND coalesce(inputShapes, inputDtypes) IS NOT NULL) "
        f"AND EXISTS (SELECT 1 {operators} AND name IN ({dispatched}))"
    )
    for first, count in session.connection.execute(query):
        yield Fault(
            "the capture was configured to record shapes, and no operator has any",
            "PYTORCH_API",
            "inputShapes",
            count=count,
            first_rowid=first,
        )


CHECKS: Mapping[str, Check] = {
    "configured-tables": _configured_tables,
    "configured-shapes": _configured_shapes,
    "scheduled-steps": _scheduled_steps,
}
