"""From a database, of any revision, to a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pyarrow.compute as pc

from ascend_ref.capture import DeviceFacts, Origin, Switches
from ascend_ref.capture.metric_groups import aic_metrics
from ascend_ref.capture.model import NONE
from ascend_ref.db.detect import shown_level
from ascend_ref.db.open import UnreadableDatabase
from ascend_ref.spill import Spill
from ascend_spec import layout_catalog

from .model import Output, Recorded, family_of
from .stated import Stated, stated_around
from .tables import DatabaseFile, FileTables


def from_database(path: Path, *, lenient: bool = False) -> Recorded:
    """The recording of a ``msprof_*.db`` or ``ascend_pytorch_profiler_*.db``.

    The analysis.db next to it is read as well, and so are the JSON files around it: they state the
    level, the cores and their clock. A table is read again when it is asked for and no longer in
    use. Columns of older revisions come under their newest names; what the file does not have is
    NULL.

    Raises :class:`UnreadableDatabase` for a file that is no such database, and on reading a table
    whose cells are not of the column's type; ``lenient`` reads such cells as NULL.
    """
    database = DatabaseFile(path)
    if database.carrier == "analysis":
        raise UnreadableDatabase(path, "an analysis database; expected the profiler's next to it")
    output: Output = "pytorch" if database.carrier == "pytorch" else "msprof"
    files = [database]
    analysis = path.parent / layout_catalog().file("pytorch", "analysis")
    if output == "pytorch" and analysis.is_file():
        files.append(DatabaseFile(analysis))
    spill = Spill()
    tables = FileTables(output, files, spill, lenient)
    stated = stated_around(path)
    groups = {spelled: group for group, spelled in aic_metrics().items()}
    return Recorded(
        output=output,
        revision=database.revision,
        origin=_origin(tables, stated, database.rank_from_name),
        switches=Switches(
            level=_level(database, stated), aic_metrics=groups.get(stated.metrics or "")
        ),
        tables=tables,
        extras={},
        spill=spill,
    )


def _origin(tables: FileTables, stated: Stated, rank: int | None) -> Origin:
    devices = _column(tables, "NPU_INFO", "id")
    chips = [chip for chip in _column(tables, "NPU_INFO", "name") if chip != "UNKNOWN"]
    ranks = _column(tables, "RANK_DEVICE_MAP", "rankId")
    processes = [process for process in _column(tables, "TASK", "globalPid") if process]
    hosts = _column(tables, "HOST_INFO", "hostName")
    known = [one for one in (rank, *ranks, stated.rank) if one is not None]
    start, end = _session(tables)
    chip = chips[0] if chips else ""
    return Origin(
        rank=known[0] if known else NONE,
        ranks=0,
        devices=tuple(sorted(set(devices))),
        chip=chip,
        pid=processes[0] if processes else 0,
        host_name=hosts[0] if hosts else "",
        host_uid=0,
        start=start,
        end=end,
        facts=_facts(stated),
        family=family_of(chip),
    )


def _facts(stated: Stated) -> DeviceFacts | None:
    """The cores of a device; ``None`` where their number or clock is missing."""
    cubes, frequency = stated.number("ai_core_num"), stated.number("aic_frequency")
    if cubes is None or frequency is None:
        return None
    return DeviceFacts(
        cube_cores=cubes,
        vector_cores=stated.number("aiv_num") or 0,
        ai_cpu_cores=stated.number("ai_cpu_core_num") or 0,
        frequency=frequency,
    )


def _level(database: DatabaseFile, stated: Stated) -> Literal[0, 1, 2]:
    """The level by profiler_info, else by the rows; 1, the usual one, where neither shows it."""
    if stated.level is not None:
        return stated.level
    shown = shown_level(database.holds, database.has_rows, database.finds)
    return 1 if shown is None else shown


def _session(tables: FileTables) -> tuple[int, int | None]:
    """Bounds of the session; without them those of the tasks."""
    starts = _column(tables, "SESSION_TIME_INFO", "startTimeNs")
    ends = _column(tables, "SESSION_TIME_INFO", "endTimeNs")
    if starts:
        return min(starts), max((end for end in ends if end >= min(starts)), default=None)
    if "TASK" not in tables:
        return 0, None
    tasks = tables.part("TASK", ("startNs", "endNs"))
    return pc.min(tasks["startNs"]).as_py() or 0, pc.max(tasks["endNs"]).as_py()


def _column(tables: FileTables, name: str, column: str) -> list[Any]:
    """The values of a column of a small table, or of the first rows of a large one."""
    if name not in tables:
        return []
    values: list[Any] = tables.head(name, column).drop_null().to_pylist()
    return values
