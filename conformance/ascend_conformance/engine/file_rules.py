"""Rules on the files of one folder whose bad places SQL finds among facts, and their findings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from ..finding import FileReport, Finding, Seen, Skipped
from ..ruleset import Rule, fill
from .asking import EXAMPLE_COLUMNS, Asked, At, Question, examples_of
from .file_folder import FolderOfFacts
from .sqlite_facts import SqliteFacts
from .trials import Rows, wrong_rows
from .work import limited

PLACE = ("file", "line", "offset")
"""Columns that come first in each table: where a row stands."""


@dataclass(frozen=True, slots=True)
class TableSearch:
    """Where a rule looks in the files of a folder.

    ``table`` is the table of facts whose rows ``row`` looks at, or ``select`` returns in its first
    column, called ``row``. ``shows`` are its columns that are shown as examples; none: the first
    ones. ``needs``: further tables without whose rows there is nothing to judge. The breaks are
    edits (:mod:`.file_edits`); ``victim`` is a SELECT over the clean folder's facts, whose columns
    fill the ``{names}`` in them.
    """

    table: str
    shows: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    victim: str | None = None


def table_search(document: Mapping[str, Any]) -> TableSearch:
    """The search that the document of a rule states."""
    shows, needs = (tuple(document.get(name, ())) for name in ("shows", "needs"))
    return TableSearch(document["table"], shows, needs, document.get("victim"))


class Wanted(Protocol):
    """What findings show: so many bad rows, and the query that lists them all."""

    @property
    def max_examples(self) -> int:
        """Bad rows of a finding."""

    @property
    def with_sql(self) -> bool:
        """Whether the query is added."""


TableRule: TypeAlias = Rule[Any]
"""A rule whose search is a :class:`TableSearch`, or has more."""


def questions(
    folder: FolderOfFacts, rules: Sequence[TableRule], options: Wanted
) -> Iterator[Question[At, Finding]]:
    """Every rule in force, with the reason where there is nothing to ask about."""
    counts = {
        name: folder.facts.value(f"SELECT count(*) FROM {name}") for name in folder.facts.tables
    }
    for rule in rules:
        missing = [one for one in (rule.search.table, *rule.search.needs) if not counts[one]]
        is_about_all = rule.search.table in folder.of_kinds or rule.search.table == "file"
        obstacle = None
        if missing and not is_about_all:
            obstacle = f"nothing to judge: no row of {missing[0]}"
        yield Question(
            (At(rule, rule.search.table),),
            lambda asked: findings(folder, asked[0].rule, options),
            partial(limited, folder.facts.connection, sum(counts.values())),
            obstacle,
        )


def report_of(
    folder: FolderOfFacts,
    asked: Asked[Finding],
    seen: Seen,
    skipped: Iterable[Skipped] = (),
) -> FileReport:
    """The verdict on a folder, once the rules were asked; ``skipped``: what was, beyond those."""
    found = (*asked.found, *asked.failures.findings(folder.label))
    return FileReport(
        file=folder.label,
        seen=seen,
        findings=tuple(sorted(found, key=lambda one: (one.rule, one.place, one.file))),
        skipped=(*asked.skipped, *skipped),
        rules_run=len(asked.ran),
        places_checked=asked.places,
        unreadable=folder.unreadable,
        members=tuple(folder.shown(path) for path in folder.numbers),
    )


def query_of(facts: SqliteFacts, rule: TableRule) -> str:
    """A SELECT of the bad rows of the rule's table, with the values that it looked at."""
    if rule.select:
        return rule.select
    search: TableSearch = rule.search
    shown = search.shows or [one for one in facts.tables[search.table] if one not in PLACE]
    columns = ", ".join(["rowid AS row", *(_name(one) for one in shown[:EXAMPLE_COLUMNS])])
    return f"SELECT {columns} FROM {search.table} WHERE {rule.row}"


def _name(column: str) -> str:
    return f'"{column}"'


def findings(folder: FolderOfFacts, rule: TableRule, options: Wanted) -> Iterator[Finding]:
    """One finding for each file with bad rows; of slices of one kind the first names them all."""
    query, table = query_of(folder.facts, rule), rule.search.table
    kind = "t.of" if table in folder.of_kinds else "f.kind"
    hits = folder.facts.rows(
        f"SELECT {kind}, f.device, count(*), min(t.rowid) "
        f"FROM (SELECT DISTINCT row FROM ({query})) q JOIN {table} t ON t.rowid = q.row "
        "LEFT JOIN file f ON f.file = t.file "
        f"GROUP BY 1, 2 ORDER BY min(t.rowid)"
    )
    for of, device, count, first in hits:
        yield _finding(folder, rule, query, (of, device), count, first, options)


def _finding(
    folder: FolderOfFacts,
    rule: TableRule,
    query: str,
    group: tuple[str | None, str | None],
    count: int,
    first: int,
    options: Wanted,
) -> Finding:
    table = rule.search.table
    kind = "t.of" if table in folder.of_kinds else "f.kind"
    joined = f"JOIN {table} t ON t.rowid = e.row LEFT JOIN file f ON f.file = t.file"
    among = f"{joined} WHERE {kind} IS ? AND f.device IS ?"
    total = folder.facts.value(
        f"SELECT count(*) FROM {table} t LEFT JOIN file f ON f.file = t.file "
        f"WHERE {kind} IS ? AND f.device IS ?",
        group,
    )
    total = count if table in folder.of_kinds else total
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


def where(folder: FolderOfFacts, table: str, row: int) -> tuple[Path, int | None, int | None]:
    """File, line and byte of a row."""
    names = ", ".join(PLACE)
    ((number, line, offset),) = folder.facts.rows(
        f"SELECT {names} FROM {table} WHERE rowid = ?", (row,)
    )
    return folder.files.get(number, folder.path), line, offset


def wrong(
    clean: FolderOfFacts,
    broken: FolderOfFacts,
    rule: TableRule,
    found: Iterable[Finding],
    victim: Mapping[str, Any],
    not_compared: Collection[str],
) -> str | None:
    """Where a rule finds other rows than those that its break changed, or at another place.

    ``not_compared``: columns that a change of another row changes as well.
    """
    here = [one for one in found if one.rule == rule.id]
    rows: list[int] = []

    def rows_of(stated: str | None) -> Rows:
        query = stated and fill(stated, {name: str(one) for name, one in victim.items()})
        rows.extend(_found_rows(clean.facts, broken.facts, rule, query, not_compared))
        return Rows(len(rows))

    text = wrong_rows([Rows(sum(one.count for one in here))] if here else [], rule.found, rows_of)
    if text is None and rows:
        _, line, offset = where(broken, rule.search.table, rows[0])
        if (line, offset) not in {(one.line, one.offset) for one in here}:
            return f"found at {here[0].line} {here[0].offset} instead of {line} {offset}"
    return text


def _found_rows(
    clean: SqliteFacts,
    broken: SqliteFacts,
    rule: TableRule,
    stated: str | None,
    not_compared: Collection[str],
) -> list[int]:
    """Rows of the rule's table that it should find: those that it states, else those that the
    change made other.
    """
    table = rule.search.table
    if stated:
        return [row for (row,) in broken.rows(f"SELECT row FROM ({stated}) ORDER BY row")]
    apart = {*not_compared, *PLACE}
    compared = [one for one in clean.tables[table] if one not in apart]
    return [row for row, _ in broken.new_rows(clean, table, compared)]
