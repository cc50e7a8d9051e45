"""Checks of the cells of CSV files, made of the spec's columns: one pass over each file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ascend_ref.text.headers import Circumstance, Recognised
from ascend_ref.text.read import columns_of, is_text
from ascend_spec import text_catalog
from ascend_spec.text import CsvColumn
from ascend_spec.text.model import NumberFormat, Writer

from ...compare.sql import quoted, text_literal
from .database import Facts
from .deliverables import Deliverable
from .loadcsv import PLACE

CellFault = Literal["type", "sentinel", "tab", "format", "range", "member", "uncounted"]
"""What is wrong with a cell: no number; a text for "no value" where there must be one; no tab
behind a time; another form of number than the writer's; out of range; no member of a closed set; a
value of a counter that the product does not have.
"""

NO_VALUES = ("N/A", "")
"""Texts that mean "no value" wherever they are allowed (text-outputs.md 2.5)."""


UNQUOTED = "T36"
"""The erratum of columns whose own quotes an engine that never quotes leaves as they are."""


@dataclass(frozen=True, slots=True)
class CellCheck:
    """One kind of fault in one column: ``condition`` is SQL over a row of the raw table."""

    fault: CellFault
    name: str
    column: CsvColumn
    condition: str
    expected: str


def likeliest(
    facts: Facts, number: int, file: Deliverable, found: Recognised, votes: Mapping[str, int]
) -> Circumstance:
    """The circumstances of a file whose forms of numbers its cells have, of the likeliest writer.

    Writers differ in how they print numbers even where their headers are the same.
    """
    # All circumstances of one writer and family print numbers alike.
    distinct = {(at.writer, at.family): at for at in reversed(found.circumstances)}
    if len(distinct) == 1:
        return found.circumstances[0]
    name = file.name
    columns = facts.columns(f"raw.{name}")[len(PLACE) :]
    faults: dict[tuple[str, ...], int] = {}

    def count(at: Circumstance) -> int:
        conditions = tuple(
            check.condition
            for check in checks_in(name, columns, at)
            if check.fault in ("format", "tab")
        )
        if conditions not in faults:
            counted = " + ".join(f"count(*) FILTER ({one})" for one in conditions) or "0"
            query = f"SELECT {counted} FROM raw.{quoted(name)} WHERE file = {number}"
            faults[conditions] = int(facts.value(query) or 0)
        return faults[conditions]

    likely = sorted(distinct.values(), key=lambda at: -votes.get(at.writer, 0))
    # The first without a fault is the likeliest: the others need not be counted.
    return next((at for at in likely if not count(at)), None) or min(likely, key=count)


def checks_in(name: str, columns: Sequence[str], at: Circumstance) -> Iterator[CellCheck]:
    """The checks of these columns of a raw table."""
    writer = text_catalog().writers[at.writer]
    for text, column in columns_of(name, columns, writer.id):
        yield from checks_of(text, column, writer, at.family)


def checks_of(name: str, column: CsvColumn, writer: Writer, family: str) -> Iterator[CellCheck]:
    """The checks of one column in the files of a writer."""
    cell = quoted(name)
    bare = f"rtrim({cell}, chr(9))" if column.tab else cell
    allowed = ", ".join(map(text_literal, column.sentinels))
    given = f"{bare} NOT IN ({allowed})" if allowed else "true"
    further = [
        text
        for text in NO_VALUES
        if text not in column.sentinels
        and not (text == "" and _loses_quotes(column, writer, family))
    ]
    if further:
        texts = ", ".join(map(text_literal, further))
        value = _value_in_words(column)
        yield CellCheck("sentinel", name, column, f"{bare} IN ({texts})", value)
        given += f" AND {bare} NOT IN ({texts})"
    if counts_nothing(column, family):
        yield CellCheck("uncounted", name, column, given, f"N/A on {family}")
    if is_text(column):
        if column.members:
            members = ", ".join(map(text_literal, column.members))
            expected = f"one of {', '.join(column.members)}"
            yield CellCheck(
                "member", name, column, f"{given} AND {cell} NOT IN ({members})", expected
            )
        return
    kind = "BIGINT" if column.storage == ("integer",) else "DOUBLE"
    number = f"TRY_CAST({bare} AS {kind})"
    wrong = f"{number} IS NULL" if kind == "BIGINT" else f"NOT coalesce(isfinite({number}), false)"
    yield CellCheck("type", name, column, f"{given} AND {wrong}", _value_in_words(column))
    if column.tab and writer.tabbed:
        condition = f"{given} AND NOT ends_with({cell}, chr(9))"
        yield CellCheck("tab", name, column, condition, "a tab behind the number")
    form = column.format_by(writer, family)
    departs = _departs(form, bare) if form else None
    if form and departs:
        tabbed = f" AND ends_with({cell}, chr(9))" if column.tab and writer.tabbed else ""
        condition = f"{given} AND NOT ({wrong}) AND {departs}{tabbed}"
        yield CellCheck("format", name, column, condition, _form_in_words(form))
    bounds = [
        f"{number} {mark} {limit}"
        for mark, limit in (("<", column.minimum), (">", column.maximum))
        if limit is not None
    ]
    if bounds:
        condition = f"{given} AND ({' OR '.join(bounds)})"
        yield CellCheck("range", name, column, condition, _range_in_words(column))


def counts_nothing(column: CsvColumn, family: str) -> bool:
    """Whether a column of counters is without value on a product."""
    return column.metric in text_catalog().pmu.not_available.get(family, ())


def _loses_quotes(column: CsvColumn, writer: Writer, family: str) -> bool:
    """Whether a text that is two quotes and nothing else stands there without further ones.

    Readers take it for an empty cell.
    """
    original = text_catalog().writers[writer.copied(family)]
    return original.quoting == "none" and UNQUOTED in column.errata


def _departs(form: NumberFormat, bare: str) -> str | None:
    """SQL for a number that is not in a form; ``None`` where every number is."""
    decimals = (
        f"CASE WHEN instr({bare}, '.') = 0 THEN 0 ELSE strlen({bare}) - instr({bare}, '.') END"
    )
    plain = f"NOT contains(lower({bare}), 'e')"
    if form.style == "fixed":
        return f"{decimals} <> {form.decimals} AND {bare} <> '0'"
    if form.style == "rounded" and form.decimals is not None:
        return f"{plain} AND {decimals} > {form.decimals}"
    if form.style == "stripped":
        many = f"{decimals} > {form.decimals}" if form.decimals is not None else "false"
        return f"{plain} AND ({many} OR (contains({bare}, '.') AND {bare}[-1] IN ('0', '.')))"
    if form.style == "integer":
        return f"contains({bare}, '.')"
    return None


def _form_in_words(form: NumberFormat) -> str:
    places = f"{form.decimals} decimals"
    return {
        "fixed": f"exactly {places}",
        "rounded": f"at most {places}",
        "stripped": f"at most {places} and no zero at the end",
        "integer": "a whole number",
    }[form.style]


def _value_in_words(column: CsvColumn) -> str:
    kind = "a text"
    if not is_text(column):
        kind = "a whole number of 64 bits" if column.storage == ("integer",) else "a number"
    texts = [one or "an empty cell" for one in column.sentinels]
    return " or ".join([kind, *texts])


def _range_in_words(column: CsvColumn) -> str:
    unit = f" {column.unit}" if column.unit else ""
    if column.maximum is None:
        return f"at least {column.minimum}{unit}"
    if column.minimum is None:
        return f"at most {column.maximum}{unit}"
    return f"{column.minimum} to {column.maximum}{unit}"
