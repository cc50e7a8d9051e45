"""What only the page of an agreement says: its two sides, column by column."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_ref.markdown import code, table

from ...compare.agreement import WHICH, Agreement, Comparison, Side
from .selecting import stated

ONE_SIDED = {
    "both": "A row of either side without a counterpart is a finding.",
    "left": "A row of the left side without a counterpart is a finding; the right may have more.",
    "right": "A row of the right side without a counterpart is a finding; the left may have more.",
    "neither": "Rows without a counterpart are left alone.",
}


def where(agreement: Agreement) -> str:
    """The sources of both sides."""
    named = [one.side(which).of for one in agreement.instances for which in WHICH]
    return f"facts {', '.join(map(code, dict.fromkeys(named)))}"


def search(agreement: Agreement) -> str:
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


def mutation(agreement: Agreement) -> str:
    """How the self-test breaks it."""
    return (
        "The self-test changes, in clean facts and one at a time, a value of every column above on "
        "either side, and removes a row; this rule must report each."
    )


def _named(side: Side) -> str:
    conditions = " and ".join(code(one) for one in side.where)
    return code(side.of) + (f" where {conditions}" if conditions else "")


def _cell(side: Side, name: str) -> str:
    return code(side.columns[name]) if name in side.columns else ""


def _difference(agreement: Agreement, name: str) -> str:
    untold = ", unless one side shows none" if name in agreement.untold else ""
    compared = agreement.compare.get(name)
    if compared is None:
        return ("pairs" if name in agreement.keys else "pairs where equal") + untold
    return _within(compared) + untold


def _within(compared: Comparison) -> str:
    unit = f" {compared.unit}" if compared.unit else ""
    if compared.tolerance is None:
        return f"equal{f', {compared.unit}' if compared.unit else ''}"
    return f"within {code(compared.tolerance)}{unit}"


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
