"""Self-test of the rules whose fault lies in the file or between files, not in one row.

Each trial damages a clean folder of two ranks, or a file in it, and expects exactly one rule.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ascend_simulator.specimen import Shape, write_rank_folder
from ascend_spec import layout_catalog

from ...engine.candidate import Listing
from ...engine.trials import Trial
from ...finding import Finding
from ...options import Options
from .. import media
from .rules import load_db_rules

RANKS = 2
Damage = Callable[[Path, Path], None]
"""Gets the profiler database and the analysis.db of rank 0 in a folder of clean ranks."""


def file_trials(revision: str, rules: Collection[str] | None = None) -> Iterator[Trial]:
    """The trial of each rule, or of those named, that a damage is known for."""
    tried = [
        rule
        for rule in load_db_rules().values()
        if rule.search.code in DAMAGES and (rules is None or rule.id in rules)
    ]
    if not tried:
        return
    with TemporaryDirectory(prefix=".ascend-ref-") as name:
        clean = Path(name) / "clean"
        for rank in range(RANKS):
            write_rank_folder(clean, revision, Shape(ranks=RANKS, rank=rank))
        for rule in tried:
            place, damage = DAMAGES[rule.search.code or ""]
            copy = Path(name) / rule.id
            shutil.copytree(clean, copy)
            profiler = next(copy.rglob(layout_catalog().file("pytorch", "database", rank=0)))
            damage(profiler, profiler.with_name(layout_catalog().file("pytorch", "analysis")))
            fired = {f"{one.rule}@{one.place}" for one in _findings(copy)}
            subject, meant = f"pytorch {revision}", f"{rule.id}@{place}"
            yield Trial(
                subject, rule.id, place, tuple(sorted(fired)), also=tuple(rule.also), meant=meant
            )


def _findings(folder: Path) -> Iterator[Finding]:
    """Of every database in a folder, and of their comparison."""
    medium = media()["db"]
    facts: list[Any] = []
    for path in sorted(folder.rglob("*.db")):
        found = medium.recognise(path, Listing(path.parent))
        if found is not None:
            report, seen = medium.judge(found, Options(), None)
            facts.extend(seen)
            yield from report.findings
    for compared in medium.compare(facts, Options()).values():
        yield from compared


def _write_ahead_log(profiler: Path, _analysis: Path) -> None:
    """A transaction that only the log holds, as a killed writer leaves it."""
    live = profiler.with_name("live.db")
    shutil.copy(profiler, live)
    with closing(sqlite3.connect(live)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("INSERT INTO META_DATA VALUES ('LATE', '1')")
        connection.commit()
        shutil.copy(f"{live}-wal", f"{profiler}-wal")
    for leftover in profiler.parent.glob("live.db*"):
        leftover.unlink()


def _rollback_journal(profiler: Path, _analysis: Path) -> None:
    header = bytes.fromhex("d9d505f920a163d7") + bytes(504)
    Path(f"{profiler}-journal").write_bytes(header)


def _longer_than_pages(profiler: Path, _analysis: Path) -> None:
    with profiler.open("ab") as file:
        file.truncate(file.tell() + 1)


def _side_document(profiler: Path, _analysis: Path) -> None:
    (document,) = profiler.parent.parent.glob("profiler_info_*.json")
    document.write_bytes(document.read_bytes()[:-1])


def _write_ahead_mode(profiler: Path, _analysis: Path) -> None:
    _run(profiler, "PRAGMA journal_mode = WAL")


def _text_encoding(profiler: Path, _analysis: Path) -> None:
    """The same tables and rows in a database of UTF-16 texts."""
    copy = profiler.with_name("copy")
    with closing(sqlite3.connect(profiler)) as old, closing(sqlite3.connect(copy)) as new:
        new.execute("PRAGMA encoding = 'UTF-16le'")
        for (statement,) in old.execute("SELECT sql FROM sqlite_schema ORDER BY type DESC, rowid"):
            new.execute(statement)
        for (table,) in old.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"):
            rows = old.execute(f"SELECT * FROM {table}").fetchall()
            marks = ", ".join("?" * len(rows[0]))
            new.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
        new.commit()
    copy.replace(profiler)


def _file_name(profiler: Path, analysis: Path) -> None:
    """A profiler database under the name of an msprof database; nothing else in the folder."""
    profiler.replace(profiler.with_name("msprof_1.db"))
    analysis.unlink()


def _rank_in_name(profiler: Path, _analysis: Path) -> None:
    profiler.replace(profiler.with_name("ascend_pytorch_profiler_7.db"))


def _group_between_ranks(profiler: Path, analysis: Path) -> None:
    """One rank's analysis gives its group another name; the profiler database would contradict."""
    profiler.unlink()
    for table in ("CommAnalyzerTime", "CommAnalyzerBandwidth", "CommAnalyzerMatrix"):
        other = (
            "substr(group_name, 1, length(group_name) - 1) || ((substr(group_name, -1) + 1) % 10)"
        )
        _run(analysis, f"UPDATE {table} SET group_name = {other}")


def _group_absent(profiler: Path, _analysis: Path) -> None:
    _run(profiler, "UPDATE META_DATA SET value = '{}' WHERE name = 'parallel_group_info'")


def _group_size(profiler: Path, _analysis: Path) -> None:
    _run(profiler, "UPDATE COMMUNICATION_OP SET rankSize = rankSize + 1")


def _analysis_tables(_profiler: Path, analysis: Path) -> None:
    _run(analysis, "DROP TABLE CommAnalyzerMatrix")


def _counters(profiler: Path, _analysis: Path) -> None:
    """No counters of tasks, nor samples of them in their place."""
    for table in ("TASK_PMU_INFO", "SAMPLE_PMU_TIMELINE", "SAMPLE_PMU_SUMMARY"):
        _run(profiler, f"DROP TABLE {table}")


def _shapes(profiler: Path, _analysis: Path) -> None:
    _run(profiler, "UPDATE PYTORCH_API SET inputShapes = NULL, inputDtypes = NULL")


def _no_analysis(_profiler: Path, analysis: Path) -> None:
    analysis.unlink()


def _run(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


DAMAGES: Mapping[str, tuple[str, Damage]] = {
    "write-ahead-log": ("", _write_ahead_log),
    "rollback-journal": ("", _rollback_journal),
    "longer-than-pages": ("", _longer_than_pages),
    "side-document": ("", _side_document),
    "write-ahead-mode": ("", _write_ahead_mode),
    "text-encoding": ("", _text_encoding),
    "file-name": ("", _file_name),
    "rank-in-name-vs-map": ("RANK_DEVICE_MAP.rankId", _rank_in_name),
    "group-name-differs-between-ranks": ("CommAnalyzerTime.group_name", _group_between_ranks),
    "group-absent-from-parallel_group_info": ("COMMUNICATION_OP.groupName", _group_absent),
    "group-size": ("COMMUNICATION_OP.rankSize", _group_size),
    "analysis-tables-missing": ("CommAnalyzerMatrix", _analysis_tables),
    "configured-tables": ("TASK_PMU_INFO", _counters),
    "configured-shapes": ("PYTORCH_API.inputShapes", _shapes),
    "analysis-lost": ("", _no_analysis),
}
