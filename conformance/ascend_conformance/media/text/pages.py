"""What only the page of a text rule says: where it looks, and how clean facts are broken."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_ref.markdown import code, fenced, table

from ...compare.agreement import WHICH, Agreement, Side
from .rules import TextRule, instances
from .selecting import stated

ONE_SIDED = {
    "both": "A row of either side without a counterpart is a finding.",
    "left": "A row of the left side without a counterpart is a finding; the right may have more.",
    "right": "A row of the right side without a counterpart is a finding; the left may have more.",
    "neither": "Rows without a counterpart are left alone.",
}


def where(rule: TextRule) -> str:
    """The files, or the tables of facts, that the rule looks at."""
    if rule.search.agreement is not None:
        return _sources(rule.search.agreement)
    if rule.search.check is not None:
        kinds = {"CSV": "every CSV file", "TRC": "every timeline", "DOC": "every JSON document"}
        return kinds.get(rule.id[:3], "every text deliverable")
    named = (".".join(part for part in (one.at, one.column) if part) for one in instances(rule))
    return f"facts {', '.join(map(code, dict.fromkeys(named)))}"


def search(rule: TextRule) -> str:
    """How bad rows are found."""
    if rule.search.agreement is not None:
        return _sides(rule.search.agreement)
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
        yield (
            "The self-test changes, in clean facts and one at a time, a value of every column "
            "above on either side, and removes a row; this rule must report each."
        )
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


def _sources(agreement: Agreement) -> str:
    """The sources of both sides."""
    named = [one.side(which).of for one in agreement.instances for which in WHICH]
    return f"facts {', '.join(map(code, dict.fromkeys(named)))}"


def _sides(agreement: Agreement) -> str:
    """How the sides are selected and compared."""
    asked = stated(agreement.instances[0]) if agreement.entities else agreement
    left, right = asked.left, asked.right
    shown = dict.fromkeys([*asked.keys, asked.near or "", *asked.compare])
    rows = (
        (
            code(name),
            _cell(left, name),
            _cell(right, name),
            _difference(asked, name),
        )
        for name in shown
        if name
    )
    parts = [
        "Both sides are selected in DuckDB, their rows are paired, and what stands there is "
        "compared in each pair.",
        table(("column", _named(left), _named(right), "compared"), rows),
        ONE_SIDED[agreement.one_sided],
        *_readings(agreement),
    ]
    return "\n\n".join(parts)


def _named(side: Side) -> str:
    conditions = " and ".join(code(one) for one in side.where)
    return code(side.of) + (f" where {conditions}" if conditions else "")


def _cell(side: Side, name: str) -> str:
    return code(side.columns[name]) if name in side.columns else ""


def _difference(agreement: Agreement, name: str) -> str:
    unstated = ", unless one side shows none" if name in agreement.unstated else ""
    compared = agreement.compare.get(name)
    if compared is None:
        return ("pairs" if name in agreement.keys else "pairs where equal") + unstated
    if compared.tolerance is None:
        return f"equal{f', {compared.unit}' if compared.unit else ''}{unstated}"
    unit = f" {compared.unit}" if compared.unit else ""
    return f"within {code(str(compared.tolerance))}{unit}{unstated}"


def _readings(agreement: Agreement) -> Iterator[str]:
    if agreement.readings:
        named = ", ".join(map(code, agreement.readings))
        yield f"{code('{reading}')} is the one of {named} that fits best."
    places = [place for place in agreement.each if place]
    if places:
        listed = "; ".join(
            ", ".join(f"{code('{' + name + '}')} {code(value)}" for name, value in place.items())
            for place in places
        )
        yield f"For {listed}."
