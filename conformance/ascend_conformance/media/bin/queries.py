"""Rules whose bad places SQL finds among the facts, and their findings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ascend_ref.db.open import read_examples
from ascend_spec import per_spec
from ascend_spec.core.pointer import ANY

from ...engine.failure import Failures
from ...engine.work import TooMuchWork, limited
from ...finding import Finding, Scalar, Skipped
from ...options import Options
from .facts import Facts, plain_tables, views
from .flatten import FactTable, fact_tables
from .places import Locator, Place, block_label, fact_table, header_field, place_in, shown
from .rules import BinRule, load_bin_rules

EXAMPLE_COLUMNS = 7
NOT_SHOWN = {"block", "code", "pointer", "offset", "times"}

_WORD = re.compile(r"[a-z_]+")


@dataclass
class Asked:
    """The answers: findings, and the rules that could not be judged."""

    findings: list[Finding] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def ask(
    locator: Locator,
    facts: Facts,
    rules: Sequence[BinRule],
    options: Options,
    failures: Failures,
) -> Asked:
    """Judge every rule that has a ``row`` or a ``select``."""
    asked = Asked()
    unread = _unread(facts)
    present = {entry.type for entry in locator.file.entries}
    names = [*(table.name for table in fact_tables()), *plain_tables()]
    counts = {name: _count(facts, name) for name in names}
    for rule in rules:
        if not (rule.row or rule.select) or not present.issuperset(rule.search.present):
            continue
        reads = _reads(rule.id)
        missing = sorted(unread.keys() & {code for table in reads for code in table.blocks})
        for code in missing[:1]:
            asked.skipped.append(Skipped(rule.id, block_label(code) or "", unread[code]))
        for table in [table for table in reads if table.name in facts.overrun][:1]:
            reason = "the payload holds more rows than are judged"
            asked.skipped.append(Skipped(rule.id, block_label(table.blocks[0]) or "", reason))
            missing.append(table.blocks[0])
        if missing:
            continue
        if not counts[rule.search.table or ""]:
            continue
        try:
            with (
                failures.of_rule(rule, rule.search.table or ""),
                limited(facts.connection, sum(counts.values())),
            ):
                asked.findings.extend(_findings(locator, facts, rule, options))
        except TooMuchWork as problem:
            asked.skipped.append(Skipped(rule.id, rule.search.table or "", str(problem)))
    return asked


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
    return tuple(table for table in fact_tables() if table.name in words)


def _count(facts: Facts, table: str) -> int:
    return int(facts.rows(f"SELECT count(*) FROM {table}")[0][0])


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
    declared = fact_table(table)
    if declared is None:
        raise ValueError(f"no table of facts is called {table}")
    return (*declared.columns, "times") if declared.grouped else declared.columns


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
    examples = tuple(_examples(facts, rule, query, code, options.max_examples))
    summary = rule.summary.rstrip(".")
    return Finding(
        rule=rule.id,
        name=rule.name,
        verdict=rule.verdict,
        file=locator.file.label,
        message=f"{summary}{amount(count, total)}{first_place(offset, pointer)}",
        expected=rule.expected,
        table=block_label(code),
        column=place.path,
        count=count,
        examples=examples,
        context={"count": count, "rows": total, "offset": offset, "pointer": pointer},
        erratum=rule.erratum,
        sql=query if options.with_sql else None,
        offset=offset,
        pointer=pointer,
    )


def amount(count: int, total: int) -> str:
    """How many of how many, where there could be several."""
    return f": {count:,} of {total:,}" if total > 1 else ""


def first_place(offset: int | None, pointer: str | None) -> str:
    """Where the first bad value stands, for the end of a message."""
    parts = [f"byte {offset:,}"] if offset is not None else []
    if pointer:
        parts.append(pointer)
    return f" (first: {', '.join(parts)})" if parts else ""


def where(locator: Locator, facts: Facts, rule: BinRule, row: int) -> tuple[Place, int | None]:
    """Path, pointer and byte of the first bad value."""
    table = fact_table(rule.search.table)
    if table is None:
        ((pointer, offset),) = facts.rows(
            f"SELECT pointer, offset FROM {rule.search.table} WHERE rowid = ?", (row,)
        )
        path = rule.column
        if pointer:
            path = re.sub(r"/\d+", f"/{ANY}", pointer) + (f"/{path}" if path else "")
        field_offset = header_field(rule.column) if rule.search.table == "block" else 0
        return Place(path, pointer), None if offset is None else offset + field_offset
    ((block, pointer),) = facts.rows(
        f"SELECT block, pointer FROM {table.name} WHERE rowid = ?", (row,)
    )
    place = place_in(table, rule.column, pointer)
    return place, locator.byte_of(block, place.pointer or "")


def _examples(
    facts: Facts, rule: BinRule, query: str, code: int | None, limit: int
) -> Iterator[Mapping[str, Scalar]]:
    if limit < 1:
        return
    description = facts.connection.execute(f"SELECT * FROM ({query}) LIMIT 1").get_description()
    names = [entry[0] for entry in description][1 : 1 + EXAMPLE_COLUMNS]
    columns = ", ".join(f'e."{name}"' for name in names)
    select = (
        f"SELECT {columns} FROM ({query}) e JOIN {rule.search.table} t ON t.rowid = e.row "
        "WHERE t.code IS ?"
    )
    for row in read_examples(facts.connection, select, (code,), columns=len(names), rows=limit):
        yield dict(zip(names, row, strict=True))
