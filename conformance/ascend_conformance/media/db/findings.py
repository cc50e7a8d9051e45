"""From hits and faults to findings: messages, examples, the SQL to see the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain

from ascend_ref.db.open import read_examples
from ascend_spec.db.model import STRINGS

from ...engine.asking import EXAMPLE_COLUMNS, examples_of
from ...finding import Finding, Scalar
from ...ruleset import fill
from .judge import Outcome, bad_row, without_rows
from .places import Instance
from .references import References
from .rows import Hit
from .session import Session
from .sql import without


def make_findings(
    session: Session, outcome: Outcome, max_examples: int, with_sql: bool
) -> tuple[Finding, ...]:
    """What was found, and every hit as a finding, in the order of rules, then places."""
    references = outcome.references
    found = list(outcome.faults)
    for hit in outcome.found:
        with outcome.failures.of_rule(hit.instance.rule, hit.instance.at):
            found.append(_from_hit(session, hit, references, max_examples, with_sql))
    found += outcome.failures.findings(session.label)
    if session.schema.reading == "documented":
        found = [_with_erratum(session, finding) for finding in found]
    return tuple(sorted(found, key=lambda finding: (finding.rule, finding.place)))


def _with_erratum(session: Session, finding: Finding) -> Finding:
    """Name the erratum that explains why the documents see this place differently."""
    if finding.erratum:
        return finding
    documented_names = {
        f"{place.partition('.')[0]}.{patch.get('name', place.partition('.')[2])}": erratum.id
        for erratum in session.catalog.errata.values()
        for place, patch in erratum.documented.items()
    }
    return replace(finding, erratum=documented_names.get(finding.place))


def _from_hit(
    session: Session, hit: Hit, references: References, max_examples: int, with_sql: bool
) -> Finding:
    instance = hit.instance
    rule = instance.rule
    total = session.rows.get(instance.table or "", 0)
    first = f" (first: rowid {hit.first_rowid})" if hit.first_rowid is not None else ""
    summary = rule.summary.rstrip(".")
    query = _query(session, hit, references)
    examples = tuple(examples_of(session.connection, query, max_examples))
    return replace(
        rule.finding(
            session.label, f"{summary}: {hit.count:,} of {total:,} rows{first}", hit.count, total
        ),
        expected=fill(rule.expected, instance.place).strip(),
        table=instance.table,
        column=instance.column,
        first_rowid=hit.first_rowid,
        examples=examples,
        texts=dict(_texts(session, instance, examples)),
        context={
            **{"count": hit.count, "rows": total, "first_rowid": hit.first_rowid},
            **_referred(instance),
        },
        sql=query.replace("main.", "") if with_sql else None,
    )


def _referred(instance: Instance) -> Mapping[str, Scalar]:
    """The table that a reference leads to."""
    targets = {one.partition(".")[0] for one in instance.place.get("targets", "").split()}
    return {"of": targets.pop()} if len(targets) == 1 else {}


def _texts(
    session: Session, instance: Instance, examples: Iterable[Mapping[str, Scalar]]
) -> Iterator[tuple[str, str]]:
    """The texts behind the string ids of examples."""
    match = session.layout.tables.get(instance.table or "")
    strings = session.layout.tables.get(STRINGS.partition(".")[0])
    if match is None or strings is None or not {"id", "value"} <= strings.columns.keys():
        return
    identifier, value = (strings.columns[name].name for name in ("id", "value"))
    query = f"SELECT {value} FROM main.STRING_IDS WHERE {identifier} = ?"
    named = {one.name for one in match.table.columns.values() if STRINGS in one.references}
    for row in examples:
        for name in sorted(named & row.keys()):
            number = row[name]
            if isinstance(number, int):
                found = read_examples(session.connection, query, (number,), columns=1, rows=1)
                yield from ((f"{name}={number}", str(text)) for (text,) in found)


def _query(session: Session, hit: Hit, references: References) -> str:
    """A SELECT of the bad rows, with the values that the rule looked at."""
    instance = hit.instance
    if instance.row is None:
        return without_rows(instance.select or "", hit.guards)
    table = instance.table or ""
    columns = ", ".join(["rowid AS row", *_shown_columns(instance)])
    bad = f"({bad_row(session, instance, references)})"
    where = " AND ".join(filter(None, (bad, without(chain(*hit.guards.values())))))
    return f"SELECT {columns} FROM main.{table} WHERE {where}"


def _shown_columns(instance: Instance) -> list[str]:
    """The columns of its own table that the rule uses, the place's column first."""
    own = [
        column
        for table, _, column in (use.partition(".") for use in instance.uses)
        if table == instance.table and column
    ]
    first = [instance.column] if instance.column else []
    return list(dict.fromkeys([*first, *own]))[:EXAMPLE_COLUMNS]
