"""What only the page of a text rule says: where it looks, and how clean facts are broken."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_ref.markdown import code, fenced

from . import agreementpages
from .rules import TextRule, instances


def where(rule: TextRule) -> str:
    """The files, or the tables of facts, that the rule looks at."""
    if rule.search.agreement is not None:
        return agreementpages.where(rule.search.agreement)
    if rule.search.check is not None:
        kinds = {"CSV": "every CSV file", "TRC": "every timeline", "DOC": "every JSON document"}
        return kinds.get(rule.id[:3], "every text deliverable")
    named = (".".join(part for part in (one.table, one.column) if part) for one in instances(rule))
    return f"facts {', '.join(map(code, dict.fromkeys(named)))}"


def search(rule: TextRule) -> str:
    """How bad rows are found."""
    if rule.search.agreement is not None:
        return agreementpages.search(rule.search.agreement)
    if rule.search.check is not None:
        return (
            f"By the check {code(rule.search.check)} of the checker, which follows from the spec."
        )
    found = "A row is bad where this holds" if rule.row else "Each row of this query is a bad one"
    return f"{found}, in DuckDB:\n\n{fenced('sql', rule.row or rule.select or '')}"


def mutation(rule: TextRule) -> Iterator[str]:
    """How the self-test breaks clean facts."""
    if rule.search.agreement is not None:
        yield "## How the self-test breaks it"
        yield agreementpages.mutation(rule.search.agreement)
    if not rule.breaks:
        return
    yield "## How the self-test breaks it"
    also = f" and, by their nature, {', '.join(sorted(rule.also))}" if rule.also else ""
    yield f"On clean facts these statements wake this rule{also or ' and no other'}:"
    yield fenced(
        "sql", ";\n".join(statement.strip().rstrip(";") for statement in rule.breaks) + ";"
    )
    for other, reason in sorted(rule.also.items()):
        yield f"{other}: {reason}"
