"""A row of a CSV file as JSON Schema."""

from __future__ import annotations

import json

from ascend_spec.core import DAYS
from ascend_spec.core.dialect import DIALECT, Node
from ascend_spec.core.names import escaped
from ascend_spec.text import CsvColumn, CsvFile, Writer

from .json_schema import extensions, limits

NUMBER, DIGITS = escaped("{n}"), r"\d+"


def csv_schema(file: CsvFile, writer: Writer) -> Node:
    """JSON Schema 2020-12 of one row of a CSV file of one writer, as an object of header texts.

    Numbers are to be given as numbers, without the tab that follows some; a sentinel as its text. A
    column that stands there several times is given once, as an array. What a value cannot show
    stands in ``x-`` annotations. A row may hold further columns.
    """
    columns: dict[str, list[CsvColumn]] = {}
    for column in file.columns:
        if column.when.admits(writer) and DAYS.in_force(column.when, writer.date):
            columns.setdefault(column.name_by(writer), []).append(column)
    repeated = {name: found[0] for name, found in columns.items() if "{n}" in name}
    document = {
        "$schema": DIALECT,
        "$id": f"urn:ascend-ref:csv:{file.name}:{writer.id}",
        "title": f"{file.name}, a row as written by {writer.id}",
        "description": file.summary,
        "type": "object",
        "properties": {
            name: _property(found[0], writer)
            for name, found in columns.items()
            if name not in repeated
        },
        "patternProperties": {
            f"^{escaped(name).replace(NUMBER, DIGITS)}$": _property(column, writer, repeated=False)
            for name, column in repeated.items()
        },
        "required": [name for name, found in columns.items() if all(map(_unconditional, found))],
        **extensions(
            families=file.families, grade=file.grade, source=file.source, errata=file.errata
        ),
    }
    return {key: value for key, value in document.items() if value not in ([], {})}


def _unconditional(column: CsvColumn) -> bool:
    when = column.when
    shaped = (when.families, when.levels, when.metrics, when.scenes, when.without)
    return column.group is None and not any(shaped)


def _property(column: CsvColumn, writer: Writer, repeated: bool = True) -> Node:
    value = _values(column)
    if column.group is not None and repeated:
        value = {"type": "array", "items": value}
    printed = column.format_by(writer)
    return {
        "description": column.summary,
        **value,
        **extensions(
            value_type=column.type,
            unit=column.unit,
            decimals=printed.decimals if printed else None,
            tab=column.tab and writer.tabbed,
            derivation=column.formula,
            shows=column.shows.of,
            metrics=column.when.metrics,
            families=column.when.families,
            grade=column.grade,
            errata=column.errata,
        ),
    }


def _values(column: CsvColumn) -> Node:
    """What a cell can hold: a regular value, or a text that means that there is none."""
    if column.storage == ("text",):
        regular: Node = {"type": "string"}
        if column.members:
            regular["enum"] = [*column.members, *column.sentinels]
        return regular
    regular = {"type": "number" if "real" in column.storage else "integer", **limits(column)}
    if not column.sentinels:
        return regular
    texts = [one for one in column.sentinels if not _is_number(one)]
    numbers = [json.loads(one) for one in column.sentinels if _is_number(one)]
    return {"anyOf": [{"enum": [*texts, *numbers]}, regular]}


def _is_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdigit()
