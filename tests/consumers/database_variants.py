"""Profiles of one rank with one fault each, as readers of databases meet them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

Edit = Callable[[Path], None]
"""Changes a folder with the databases of a rank."""

PROFILER, ANALYSIS = "ascend_pytorch_profiler*.db", "analysis.db"


def run(*statements: str, of: str = PROFILER) -> Edit:
    """Statements on a database."""

    def edit(folder: Path) -> None:
        for path in folder.glob(of):
            with closing(sqlite3.connect(path)) as connection:
                for statement in statements:
                    connection.execute(statement)
                connection.commit()

    return edit


def no_table(name: str, of: str = PROFILER) -> Edit:
    return run(f"DROP TABLE {name}", of=of)


def emptied(name: str, of: str = PROFILER) -> Edit:
    return run(f"DELETE FROM {name}", of=of)


def renamed(table: str, column: str, to: str, of: str = PROFILER) -> Edit:
    return run(f"ALTER TABLE {table} RENAME COLUMN {column} TO {to}", of=of)


def no_column(table: str, *columns: str, of: str = PROFILER) -> Edit:
    """A table without columns, made anew: indexes may be on them."""

    def edit(folder: Path) -> None:
        for path in folder.glob(of):
            with closing(sqlite3.connect(path)) as connection:
                names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
                kept = ", ".join(f'"{name}"' for name in names if name not in columns)
                connection.execute(f"CREATE TABLE made_anew AS SELECT {kept} FROM {table}")
                connection.execute(f"DROP TABLE {table}")
                connection.execute(f"ALTER TABLE made_anew RENAME TO {table}")
                connection.commit()

    return edit


def both(*edits: Edit) -> Edit:
    def edit(folder: Path) -> None:
        for one in edits:
            one(folder)

    return edit


def without(name: str) -> Edit:
    def edit(folder: Path) -> None:
        for path in folder.glob(name):
            path.unlink()

    return edit


def _cut(folder: Path) -> None:
    for path in folder.glob(PROFILER):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _other_groups(folder: Path) -> None:
    for path in folder.glob(PROFILER):
        with closing(sqlite3.connect(path)) as connection:
            value = json.dumps(
                {"a_group": {"group_name": "dp", "group_rank": 0, "global_ranks": [0]}}
            )
            statement = "UPDATE META_DATA SET value = ? WHERE name = 'parallel_group_info'"
            connection.execute(statement, (value,))
            connection.commit()


FITTED: dict[str, Edit] = {
    "as it is": lambda folder: None,
    "no STRING_IDS": no_table("STRING_IDS"),
    "no TASK": no_table("TASK"),
    "no COMMUNICATION_OP": no_table("COMMUNICATION_OP"),
    "no CommAnalyzerTime": no_table("CommAnalyzerTime", ANALYSIS),
    "no META_DATA": no_table("META_DATA"),
    "empty STEP_TIME": emptied("STEP_TIME"),
    "no TASK.streamId": no_column("TASK", "streamId"),
}
"""Of those that the contracts were fitted to, which take each table and column away alone."""

HELD_BACK: dict[str, Edit] = {
    "a renamed name": renamed("CANN_API", "name", "apiName"),
    "a renamed key": renamed("TASK", "globalTaskId", "taskKey"),
    "no new names of blocks": no_column("COMPUTE_TASK_INFO", "blockNum", "mixBlockNum"),
    "one new name of blocks": no_column("COMPUTE_TASK_INFO", "mixBlockNum"),
    "no blocks": no_column(
        "COMPUTE_TASK_INFO", "blockNum", "mixBlockNum", "blockDim", "mixBlockDim"
    ),
    "renamed times": renamed("COMMUNICATION_OP", "startNs", "start_ns"),
    "a renamed table": run("ALTER TABLE CONNECTION_IDS RENAME TO CONNECTIONS"),
    "a table in capitals": run("ALTER TABLE StepTraceTime RENAME TO x", of=ANALYSIS),
    "columns in other capitals": renamed("AICORE_FREQ", "freq", "FREQ"),
    "a further table": run("CREATE TABLE FURTHER (a, b)"),
    "a further column": run("ALTER TABLE TASK ADD COLUMN further INTEGER DEFAULT 7"),
    "a view for a table": run(
        "ALTER TABLE CONNECTION_IDS RENAME TO hidden",
        "CREATE VIEW CONNECTION_IDS AS SELECT * FROM hidden",
    ),
    "nothing of the framework": both(
        no_table("PYTORCH_API"), no_table("STEP_TIME"), no_table("CONNECTION_IDS")
    ),
    "nothing of the device": both(
        no_table("TASK"), no_table("COMPUTE_TASK_INFO"), no_table("COMMUNICATION_OP")
    ),
    "no hosts and devices": both(no_table("HOST_INFO"), no_table("RANK_DEVICE_MAP")),
    "no marks and steps": both(no_table("MSTX_EVENTS"), no_table("STEP_TIME")),
    "no analysis": without(ANALYSIS),
    "empty times": emptied("CommAnalyzerTime", ANALYSIS),
    "empty links": emptied("CommAnalyzerMatrix", ANALYSIS),
    "tasks of others": run("UPDATE COMPUTE_TASK_INFO SET globalTaskId = globalTaskId + 1000000"),
    "types of nothing": run("UPDATE COMPUTE_TASK_INFO SET opType = 4000000000"),
    "groups of nothing": run("UPDATE COMMUNICATION_OP SET groupName = 4000000000"),
    "no connections of operators": run("UPDATE COMMUNICATION_OP SET connectionId = 4000000000"),
    "no links of operators": run("UPDATE COMMUNICATION_TASK_INFO SET opId = -9"),
    "NULL names": run("UPDATE COMMUNICATION_OP SET opName = NULL"),
    "no groups": run("DELETE FROM META_DATA WHERE name = 'parallel_group_info'"),
    "other groups": _other_groups,
    "no metadata but versions": run("DELETE FROM META_DATA WHERE name NOT LIKE 'SCHEMA%'"),
    "no data types": emptied("ENUM_HCCL_DATA_TYPE"),
    "no frequencies and ranks": both(emptied("AICORE_FREQ"), emptied("RANK_DEVICE_MAP")),
    "no connections": emptied("CONNECTION_IDS"),
    "cut off": _cut,
}
"""Variants that nothing was fitted to, before they were compared. The contracts were wrong then
about columns in other capitals, views, profiles without analysis.db, groups and names of nothing,
and files that are cut off, and were corrected.
"""


def variants() -> Iterator[tuple[str, Edit]]:
    yield from FITTED.items()
    yield from HELD_BACK.items()
