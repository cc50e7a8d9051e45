"""Rules whose bad places SQL finds among the facts, and their findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ...engine.asking import EXAMPLE_COLUMNS, At, Question, examples_of
from ...engine.work import limited
from ...finding import Finding
from ...options import Options
from .facts import PLACE, fact_tables
from .gather import Folder
from .rules import FileRule

KINDS = ("damage", "cell_fault", "row_fault", "header", "remade")
"""Tables whose rows are about files of the kind in their column ``of``."""


def questions(
    folder: Folder, rules: Sequence[FileRule], options: Options
) -> Iterator[Question[At, Finding]]:
    """Every rule in force, with the reason where there is nothing to ask about."""
    counts = {name: folder.facts.value(f"SELECT count(*) FROM {name}") for name in fact_tables()}
    for rule in rules:
        missing = [one for one in (rule.search.table, *rule.search.needs) if not counts[one]]
        is_about_all = rule.search.table in KINDS or rule.search.table == "file"
        obstacle = None
        if missing and not is_about_all:
            obstacle = f"nothing to judge: no row of {missing[0]}"
        yield Question(
            (At(rule, rule.search.table),),
            lambda asked: findings(folder, asked[0].rule, options),
            partial(limited, folder.facts.connection, sum(counts.values())),
            obstacle,
        )


def query_of(rule: FileRule) -> str:
    """A SELECT of the bad rows of the rule's table, with the values that it looked at."""
    if rule.select:
        return rule.select
    shown = rule.search.shows or fact_tables()[rule.search.table]
    columns = ", ".join(["rowid AS row", *(_name(one) for one in shown[:EXAMPLE_COLUMNS])])
    return f"SELECT {columns} FROM {rule.search.table} WHERE {rule.row}"


def _name(column: str) -> str:
    return f'"{column}"'


def findings(folder: Folder, rule: FileRule, options: Options) -> Iterator[Finding]:
    """One finding for each file with bad rows; of slices of one kind the first names them all."""
    query, table = query_of(rule), rule.search.table
    kind = "t.of" if table in KINDS else "f.kind"
    hits = folder.facts.rows(
        f"SELECT {kind}, f.device, count(*), min(t.rowid) "
        f"FROM (SELECT DISTINCT row FROM ({query})) q JOIN {table} t ON t.rowid = q.row "
        "LEFT JOIN file f ON f.file = t.file "
        f"GROUP BY 1, 2 ORDER BY min(t.rowid)"
    )
    for of, device, count, first in hits:
        yield _finding(folder, rule, query, (of, device), count, first, options)


def _finding(
    folder: Folder,
    rule: FileRule,
    query: str,
    group: tuple[str | None, str | None],
    count: int,
    first: int,
    options: Options,
) -> Finding:
    table = rule.search.table
    kind = "t.of" if table in KINDS else "f.kind"
    joined = f"JOIN {table} t ON t.rowid = e.row LEFT JOIN file f ON f.file = t.file"
    among = f"{joined} WHERE {kind} IS ? AND f.device IS ?"
    total = folder.facts.value(
        f"SELECT count(*) FROM {table} t LEFT JOIN file f ON f.file = t.file "
        f"WHERE {kind} IS ? AND f.device IS ?",
        group,
    )
    total = count if table in KINDS else total
    file, line, offset = where(folder, table, first)
    examples = examples_of(
        folder.facts.connection,
        query,
        options.max_examples,
        hidden=1,
        among=among,
        values=group,
    )
    found = rule.finding(
        folder.shown(file), rule.counted(count, total) + place_words(line, offset), count, total
    )
    return replace(
        found,
        table=group[0] or table,
        column=rule.column,
        examples=tuple(examples),
        context={"count": count, "rows": total, "line": line, "offset": offset},
        sql=query if options.with_sql else None,
        line=line,
        offset=offset,
    )


def place_words(line: int | None, offset: int | None) -> str:
    """Where the first of some rows stands, in words that follow others."""
    if line is not None:
        return f", first in line {line:,}"
    return "" if offset is None else f", first at byte {offset:,}"


def where(folder: Folder, table: str, row: int) -> tuple[Path, int | None, int | None]:
    """File, line and byte of a row."""
    names = ", ".join(PLACE)
    ((number, line, offset),) = folder.facts.rows(
        f"SELECT {names} FROM {table} WHERE rowid = ?", (row,)
    )
    return folder.files.get(number, folder.path), line, offset
