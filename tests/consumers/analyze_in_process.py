"""msprof-analyze in this process: what each mode says of a profile, and what it writes.

Its modes run the code of the tool as it is. Only what it hands to other processes is done here one
after another, and its log is read, which is what shows that a mode failed.
"""

from __future__ import annotations

import contextlib
import io
import logging
import shutil
import sqlite3
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing
from multiprocessing import Lock, Value
from pathlib import Path
from typing import Any, NamedTuple

NO_ACCEPTORS = {"cluster_time_compare_summary", "cluster_compare_baseline", "calibrate_npu_gpu"}
"""Modes that need more than one profile, or a module that the wheel lacks (consumers.md 2.1)."""
WRITERS = ("export_summary", "p2p_pairing", "mstx2commop", "pp_chart")
"""Modes that write into the profile, in the order in which they do not disturb each other."""
PAIRED = "opConnectionId"


class Said(NamedTuple):
    """Whether a mode reported an error, and what it wrote."""

    error: bool
    wrote: frozenset[str]
    lines: tuple[str, ...]


class _Log(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.errors: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR:
            self.errors.append(record.getMessage())


def modes() -> list[str]:
    """Every mode that judges one profile, those that write into it last."""
    from msprof_analyze.cluster_analyse.cluster_analysis import ALL_FEATURE_LIST

    found = [one for one in ALL_FEATURE_LIST if one not in NO_ACCEPTORS and one not in WRITERS]
    return [*sorted(found), *WRITERS]


def run_modes(profile: Path, scratch: Path, wanted: Iterable[str]) -> Mapping[str, Said]:
    """Each mode on the profile, those that write into it on a copy of its own."""
    found = {}
    with _here() as log:
        for mode in wanted:
            place = profile
            if mode in WRITERS:
                place = scratch / "written"
                shutil.rmtree(place, ignore_errors=True)
                shutil.copytree(profile, place)
            found[mode] = _run(mode, place, scratch / "output", log)
    return found


def _run(mode: str, profile: Path, output: Path, log: _Log) -> Said:
    from msprof_analyze.cluster_analyse.cluster_analysis import Interface

    shutil.rmtree(output, ignore_errors=True)
    log.errors = []
    before = set(profile.rglob("*"))
    places = str(profile), str(output)
    words: dict[str, Any] = {
        **dict(zip(("profiling_path", "cluster_analysis_output_path"), places, strict=True)),
        **{"output_path": places[1], "mode": mode, "force": True, "parallel_mode": "concurrent"},
        **{"export_type": "db", "rank_list": "all", "step_id": -1},
    }
    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            Interface(words).run()
        except Exception as error:  # what it does not catch ends it with a traceback
            log.errors.append(repr(error))
    wrote = _tables(output / "cluster_analysis_output" / "cluster_analysis.db")
    wrote |= {path.name for path in set(profile.rglob("*")) - before if path.suffix == ".csv"}
    if mode in WRITERS:
        wrote |= _added(profile)
    return Said(bool(log.errors), frozenset(wrote), tuple(log.errors))


def _tables(database: Path) -> set[str]:
    """The tables of a database that have rows."""
    if not database.is_file():
        return set()
    with closing(sqlite3.connect(database)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {
            name
            for (name,) in names.fetchall()
            if connection.execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone()
        }


def _added(profile: Path) -> set[str]:
    """What modes add to the databases of a profile."""
    found = set()
    for database in profile.rglob("ascend_pytorch_profiler*.db"):
        with closing(sqlite3.connect(database)) as connection, contextlib.suppress(sqlite3.Error):
            columns = connection.execute("SELECT name FROM pragma_table_info('COMMUNICATION_OP')")
            if (PAIRED,) in columns.fetchall():
                found.add(f"COMMUNICATION_OP.{PAIRED}")
            table = "SELECT 1 FROM sqlite_master WHERE name = 'StepTaskInfo'"
            if connection.execute(table).fetchone():
                found.add("StepTaskInfo")
    return found


@contextlib.contextmanager
def _here() -> Iterator[_Log]:
    """The tool without other processes, and its log."""
    from msprof_analyze.cluster_analyse.analysis import analysis_facade
    from msprof_analyze.cluster_analyse.common_func import context
    from msprof_analyze.prof_common.logger import get_logger

    class InProcess(context.Context):  # type: ignore[misc,name-defined]
        """What ConcurrentContext does in a pool."""

        def __init__(self) -> None:
            self._mode = "concurrent"
            super().__init__()
            self.future_dict: dict[str, list[Future[Any]]] = defaultdict(list)

        def close(self) -> None:
            """Nothing is open."""

        def map(self, function: Callable[..., Any], *items: Any, **more: Any) -> list[Any]:
            try:
                return [function(*one, **more) for one in zip(*items, strict=True)]
            except Exception as error:
                context.logger.error(error)
                return []

        def wait(self, waitable: Any) -> Any:
            return waitable

        def submit(self, name: str, function: Callable[..., Any], *args: Any) -> None:
            future: Future[Any] = Future()
            try:
                future.set_result(function(*args))
            except Exception as error:
                future.set_exception(error)
            self.future_dict[name].append(future)

        def wait_all_futures(self) -> None:
            for futures in self.future_dict.values():
                for future in futures:
                    future.result()

    def analyze(facade: Any) -> None:
        """``cluster_analyze``, whose processes die alone."""
        facade.cluster_analyze_with_recipe()
        for module in sorted(facade.db_module, key=lambda one: str(one.__name__)):
            try:
                module(facade.params).run(Value("i", 0), Lock())
            except Exception as error:
                logger.error(error)

    logger = get_logger()
    log = _Log()
    kept = logger.handlers, logger.propagate, context.Context.ctx_map
    facade = analysis_facade.AnalysisFacade
    analyzing = facade.cluster_analyze
    logger.handlers, logger.propagate = [log], False
    context.Context.ctx_map = {"concurrent": InProcess}
    facade.cluster_analyze = analyze
    try:
        yield log
    finally:
        logger.handlers, logger.propagate, context.Context.ctx_map = kept
        facade.cluster_analyze = analyzing
