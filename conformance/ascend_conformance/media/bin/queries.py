"""Rules whose bad places SQL finds among the facts, and their findings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ascend_spec import per_spec
from ascend_spec.bin import HEADER
from ascend_spec.core.pointer import ANY

from ...engine.asking import EXAMPLE_COLUMNS, At, Question, examples_of
from ...engine.work import limited
from ...finding import Finding
from ...options import Options
from .facts import Facts, plain_tables, views
from .flatten import FactTable, fact_tables
from .places import Locator, Place, block_label, field_offset, first_place, place_in, shown
from .rules import BinRule, load_bin_rules

NOT_SHOWN = {"block", "code", "pointer", "offset", "times"}

_WORD = re.compile(r"[a-z_]+")


def questions(
    locator: Locator, facts: Facts, rules: Sequence[BinRule], options: Options
) -> Iterator[Question[At, Finding]]:
    """Every rule that has a ``row`` or a ``select``."""
    unread = _unread(facts)
    present = {entry.type for entry in locator.file.entries}
    names = [*fact_tables(), *plain_tables()]
    counts = {name: facts.rows(f"SELECT count(*) FROM {name}")[0][0] for name in names}
    for rule in rules:
        if not (rule.row or rule.select) or not present.issuperset(rule.search.present):
            continue
        reads = _reads(rule.id)
        obstacles = list(_obstacles(facts, unread, reads))
        for at, reason in obstacles:
            yield Question((At(rule, at),), lambda _: (), obstacle=reason)
        if not obstacles and counts[rule.search.table or ""]:
            yield Question(
                (At(rule, rule.search.table or ""),),
                lambda asked: _findings(locator, facts, asked[0].rule, options),
                partial(limited, facts.connection, sum(counts.values())),
            )


def _obstacles(
    facts: Facts, unread: Mapping[int, str], reads: Sequence[FactTable]
) -> Iterator[tuple[str, str]]:
    """Blocks that a rule reads and that gave no facts, or not all of them, each with the reason."""
    for code in sorted(unread.keys() & {code for table in reads for code in table.blocks})[:1]:
        yield block_label(code), unread[code]
    for table in [table for table in reads if table.name in facts.overrun][:1]:
        yield block_label(table.blocks[0]), "the payload holds more rows than are judged"


def _unread(facts: Facts) -> Mapping[int, str]:
    """By type, why a block gave no facts."""
    reasons = {
        "malformed": "the payload is no JSON text",
        "cut": "the payload is cut off",
        "too-large": "the payload is larger than viewers read",
    }
    select = "SELECT code, state FROM payload WHERE state <> 'sound'"
    return {code: reasons[state] for code, state in facts.rows(select) if state in reasons}


@per_spec
def _reads(rule_id: str) -> tuple[FactTable, ...]:
    """The fact tables that a rule's SQL reads, through views as well."""
    rule = load_bin_rules()[rule_id]
    words = {*_WORD.findall(rule.select or rule.row or ""), rule.search.table or ""}
    todo = sorted(words & views().keys())
    for name in todo:
        further = set(_WORD.findall(views()[name])) - words
        words |= further
        todo += sorted(further & views().keys())
    return tuple(table for name, table in fact_tables().items() if name in words)


def _findings(locator: Locator, facts: Facts, rule: BinRule, options: Options) -> Iterator[Finding]:
    table = rule.search.table
    query = _query(rule)
    hits = facts.rows(
        f"SELECT t.code, {_counted(table)}, min(t.rowid) "
        f"FROM (SELECT DISTINCT row FROM ({query})) q "
        f"JOIN {table} t ON t.rowid = q.row GROUP BY t.code ORDER BY t.code"
    )
    for code, count, first in hits:
        yield _finding(locator, facts, rule, query, code, count, first, options)


def _counted(table: str | None) -> str:
    """Number of the rows ``t``, each as often as it stands for values of the file."""
    return "CAST(total(t.times) AS INTEGER)" if "times" in columns_of(table) else "count(*)"


def _query(rule: BinRule) -> str:
    """A SELECT of the bad rows of the rule's table, with the values that it looked at."""
    if rule.select:
        return rule.select
    shown = rule.search.shows or [
        name for name in columns_of(rule.search.table) if name not in NOT_SHOWN
    ]
    columns = ", ".join(["rowid AS row", *shown[:EXAMPLE_COLUMNS]])
    return f"SELECT {columns} FROM {rule.search.table} WHERE {rule.row}"


def columns_of(table: str | None) -> Sequence[str]:
    """The columns of a table of facts."""
    plain = plain_tables().get(table or "")
    if plain is not None:
        return plain
    declared = fact_tables().get(table or "")
    if declared is None:
        raise ValueError(f"no table of facts is called {table}")
    return [*declared.columns, *(["times"] if declared.grouped else [])]


def _finding(
    locator: Locator,
    facts: Facts,
    rule: BinRule,
    query: str,
    code: int | None,
    count: int,
    first: int,
    options: Options,
) -> Finding:
    whole = f"SELECT {_counted(rule.search.table)} FROM {rule.search.table} t WHERE t.code IS ?"
    ((total,),) = facts.rows(whole, (code,))
    place, offset = where(locator, facts, rule, first)
    pointer = shown(place.pointer)
    examples = examples_of(
        facts.connection,
        query,
        options.max_examples,
        hidden=1,
        among=f"JOIN {rule.search.table} t ON t.rowid = e.row WHERE t.code IS ?",
        values=(code,),
    )
    return replace(
        rule.finding(
            locator.file.label,
            rule.counted(count, total) + first_place(offset, pointer),
            count,
            total,
        ),
        table=None if code is None else block_label(code),
        column=place.path,
        count=count,
        examples=tuple(examples),
        context={"count": count, "rows": total, "offset": offset, "pointer": pointer},
        sql=query if options.with_sql else None,
        offset=offset,
        pointer=pointer,
    )


def where(locator: Locator, facts: Facts, rule: BinRule, row: int) -> tuple[Place, int | None]:
    """Path, pointer and byte of the first bad value."""
    table = fact_tables().get(rule.search.table or "")
    if table is None:
        ((pointer, offset),) = facts.rows(
            f"SELECT pointer, offset FROM {rule.search.table} WHERE rowid = ?", (row,)
        )
        path = rule.column
        if pointer:
            path = re.sub(r"/\d+", f"/{ANY}", pointer) + (f"/{path}" if path else "")
        if rule.search.table == "block":
            offset += field_offset(HEADER, rule.column)
        return Place(path, pointer), offset
    ((block, pointer),) = facts.rows(
        f"SELECT block, pointer FROM {table.name} WHERE rowid = ?", (row,)
    )
    place = place_in(table, rule.column, pointer)
    return place, locator.byte_of(block, place.pointer or "")
