"""From hits and faults to findings: messages, examples, the SQL to see the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import apsw

from ascend_ref.db.open import read_examples

from ...finding import Finding, Scalar
from .checks import Fault
from .judge import Outcome, bad_row, without_rows
from .places import Instance, fill
from .references import References
from .rows import Hit
from .session import Session

EXAMPLE_COLUMNS = 7


def make_findings(
    session: Session, outcome: Outcome, max_examples: int, with_sql: bool
) -> tuple[Finding, ...]:
    """Every hit and fault as a finding, in the order of rules, then places."""
    references = outcome.references
    found = [from_fault(session.label, fault) for fault in outcome.faults]
    for hit in outcome.hits:
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


def from_fault(file: str, fault: Fault) -> Finding:
    """The finding that a Python check's fault stands for."""
    rule = fault.rule
    return Finding(
        rule=rule.id,
        name=rule.name,
        verdict=rule.verdict,
        file=file,
        message=fault.what + (f" (first: rowid {fault.first_rowid})" if fault.first_rowid else ""),
        expected=fault.expected or rule.expected,
        table=fault.table,
        column=fault.column,
        count=fault.count,
        first_rowid=fault.first_rowid,
        context={"count": fault.count, "first_rowid": fault.first_rowid, **fault.context},
        erratum=fault.erratum or rule.erratum,
    )


def _from_hit(
    session: Session, hit: Hit, references: References, max_examples: int, with_sql: bool
) -> Finding:
    instance = hit.instance
    rule = instance.rule
    total = session.rows.get(instance.table or "", 0)
    first = f" (first: rowid {hit.first_rowid})" if hit.first_rowid is not None else ""
    summary = rule.summary.rstrip(".")
    query = _query(session, hit, references)
    return Finding(
        rule=rule.id,
        name=rule.name,
        verdict=rule.verdict,
        file=session.label,
        message=f"{summary}: {hit.count:,} of {total:,} rows{first}",
        expected=fill(rule.expected, instance.place).strip(),
        table=instance.table,
        column=instance.column,
        count=hit.count,
        first_rowid=hit.first_rowid,
        examples=tuple(_examples(session.connection, query, max_examples)),
        context={"count": hit.count, "rows": total, "first_rowid": hit.first_rowid},
        erratum=rule.erratum,
        sql=query.replace("main.", "") if with_sql else None,
    )


def _query(session: Session, hit: Hit, references: References) -> str:
    """A SELECT of the bad rows, with the values that the rule looked at."""
    instance = hit.instance
    if instance.row is None:
        return without_rows(instance.select or "", hit.guards)
    table = instance.table or ""
    columns = ", ".join(["rowid AS row", *_shown_columns(instance)])
    sound = "".join(f" AND ({bad}) IS NOT TRUE" for found in hit.guards.values() for bad in found)
    bad = bad_row(session, instance, references)
    return f"SELECT {columns} FROM main.{table} WHERE ({bad}){sound}"


def _shown_columns(instance: Instance) -> list[str]:
    """The columns of its own table that the rule uses, the place's column first."""
    own = [
        column
        for table, _, column in (use.partition(".") for use in instance.uses)
        if table == instance.table and column
    ]
    first = [instance.column] if instance.column else []
    return list(dict.fromkeys([*first, *own]))[:EXAMPLE_COLUMNS]


def _examples(
    connection: apsw.Connection, query: str, limit: int
) -> Iterator[Mapping[str, Scalar]]:
    if limit < 1:
        return
    cursor = connection.execute(f"SELECT * FROM ({query}) LIMIT 1")
    names = [entry[0] for entry in cursor.get_description()][:EXAMPLE_COLUMNS]
    columns = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
    select = f"SELECT {columns} FROM ({query})"
    for row in read_examples(connection, select, columns=len(names), rows=limit):
        yield dict(zip(names, row, strict=True))
