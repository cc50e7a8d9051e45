"""What the spec lacks of a source, or says otherwise, as a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ascend_conformance.finding import SOURCE, Coverage, FileReport, Finding, Report, Scalar, Seen
from ascend_conformance.ruleset import EVERYTHING, Selection
from ascend_conformance.schema import Change, State
from ascend_conformance.schema.findings import as_rule, finding_of
from ascend_ref import __version__
from ascend_ref.states import AXES, FAMILIES

from .comparing import changes_of
from .stated import Stated

EXPECTED = "spec and source agree"


def report_of(stated: Stated, state: State, selection: Selection = EVERYTHING) -> Report:
    """The changes that lead from the spec at a state to a source, each a violation.

    A file of the report is a family of formats of which the source states something. Raises
    ``StateError`` for a state of another axis.
    """
    changes = [one for one in changes_of(stated, state) if selection.wants(as_rule(one.named))]
    files = [
        _of_family(family, read, [one for one in changes if one.family == family], stated, state)
        for family, read in _read(stated, state)
    ]
    return Report(tuple(files), __version__, "observed", question="source")


def _read(stated: Stated, state: State) -> Iterator[tuple[str, Counter[str]]]:
    """By family that is compared how many things of each kind the source states."""
    for family, read in _stated(stated):
        if state.axis is None or family in AXES[state.axis].families:
            yield family, read


def _stated(stated: Stated) -> Iterator[tuple[str, Counter[str]]]:
    columns = sum(len(table.columns) for table in stated.tables.values())
    members = sum(len(enum.members) for enum in stated.enums.values())
    read = Counter({"table": len(stated.tables), "column": columns, "member": members})
    if stated.tables:
        yield "db", read
    if stated.headers:
        headers = sum(len(one.headers) for one in stated.headers.values())
        yield "text", Counter({"csv": len(stated.headers), "header": headers})
    if stated.blocks is not None:
        yield "bin", Counter({"block": len(stated.blocks.members)})


def _of_family(
    family: str, read: Counter[str], changes: Sequence[Change], stated: Stated, state: State
) -> FileReport:
    is_versioned = family == "db" and stated.schema_version is not None
    seen = Seen(
        carrier=SOURCE,
        schema_version=stated.schema_version if is_versioned else None,
        revision=f"{state.name} to {stated.source}",
        rows=read,
        coverage=Coverage(0, 0),
    )
    return FileReport(FAMILIES[family].title, seen, tuple(_finding(one, stated) for one in changes))


def _finding(change: Change, stated: Stated) -> Finding:
    finding = finding_of(change)
    where = _where(change, stated)
    context: dict[str, Scalar] = {
        **finding.context,
        "class": finding.context["breaks"],
        "breaks": "the spec",
        **({"source": where} if where else {}),
    }
    return replace(finding, verdict="violation", expected=EXPECTED, context=context)


def _where(change: Change, stated: Stated) -> str | None:
    """File and line of the checkout where a table or an enum is declared."""
    name = change.address.partition("/")[2].partition(".")[0].partition("/")[0]
    if change.family == "bin":
        return stated.blocks.where if stated.blocks else None
    facts = stated.enums.get(name) or stated.tables.get(name) or stated.headers.get(name)
    return facts.where if facts else None
