"""Args of timelines that are no value of their type, or out of its range or set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ascend_spec.timeline import Layer

from ...compare.sql import quoted, text_literal
from .findings import Fault, bad_rows, example_of, place_of_event
from .folder import Folder
from .layers import ArgColumn, arg_columns, layers_by_table


@dataclass(frozen=True, slots=True)
class _Check:
    """One kind of fault of an arg: a condition of its rows, and what is expected."""

    column: ArgColumn
    condition: str
    expected: str


def wrong_args(folder: Folder, examples: int) -> Iterator[Fault]:
    """Args that are no value of their type, or out of its range or set."""
    keys = dict(folder.facts.rows("SELECT DISTINCT shape, keys FROM trace.shape"))
    tables = folder.facts.tables()
    for name, layer in layers_by_table().items():
        table = f"trace.{name}"
        present = tables.get(table, frozenset())
        columns = [one for one in arg_columns(name) if one.name in present]
        if columns:
            for check in _suspicions(folder, table, columns, keys):
                yield from _faults(folder, layer, table, check, examples)


def _suspicions(
    folder: Folder,
    table: str,
    columns: Sequence[ArgColumn],
    keys: Mapping[int, Sequence[str] | None],
) -> Iterator[_Check]:
    """The checks that some row may fail, by least, greatest and number of values of each shape."""
    figures = "".join(f", {_figures(one)}" for one in columns)
    select = f"SELECT shape, count(*){figures} FROM {table} GROUP BY shape ORDER BY shape"
    found: dict[str, _Check] = {}
    for shape, rows, *values in folder.facts.rows(select):
        for place, column in enumerate(columns):
            least, most, count = values[3 * place : 3 * place + 3]
            for check in _range_checks(column, least, most):
                found.setdefault(check.condition, check)
            if count < rows and column.name in (keys.get(shape) or ()) and _is_never_null(column):
                kind = "a whole number" if column.type == "BIGINT" else "a number"
                condition = f"{quoted(column.name)} IS NULL AND shape = {shape}"
                found.setdefault(condition, _Check(column, condition, kind))
    yield from found.values()


def _figures(column: ArgColumn) -> str:
    """Least, greatest and number of values; of a closed set of texts how many are none of it."""
    value = quoted(column.name)
    if column.type in ("BIGINT", "DOUBLE"):
        return f"min({value}), max({value}), count({value})"
    strange = _strange(column)
    return f"NULL, {f'count(*) FILTER ({strange})' if strange else 'NULL'}, count(*)"


def _range_checks(column: ArgColumn, least: object, most: object) -> Iterator[_Check]:
    value = quoted(column.name)
    every = column.args
    if column.type not in ("BIGINT", "DOUBLE"):
        if isinstance(most, int) and most:
            texts = ", ".join(_texts(column))
            yield _Check(column, _strange(column) or "", f"one of {texts}")
        return
    numbers = ", ".join(str(one) for arg in every for one in arg.none if isinstance(one, int))
    allowed = f" AND {value} NOT IN ({numbers})" if numbers else ""
    bounds = [arg.minimum for arg in every if arg.minimum is not None]
    if len(bounds) == len(every) and isinstance(least, (int, float)) and least < min(bounds):
        yield _Check(column, f"{value} < {min(bounds)}{allowed}", f"at least {min(bounds)}")
    bounds = [arg.maximum for arg in every if arg.maximum is not None]
    if len(bounds) == len(every) and isinstance(most, (int, float)) and most > max(bounds):
        yield _Check(column, f"{value} > {max(bounds)}{allowed}", f"at most {max(bounds)}")


def _is_never_null(column: ArgColumn) -> bool:
    """Whether every writer gives the arg a number and nothing else."""
    return column.type in ("BIGINT", "DOUBLE") and not any(
        "null" in arg.json or any(isinstance(one, str) for one in arg.none) for arg in column.args
    )


def _strange(column: ArgColumn) -> str | None:
    """SQL for a text that is none of a closed set."""
    if not all(arg.values for arg in column.args):
        return None
    return f"{quoted(column.name)} NOT IN ({', '.join(map(text_literal, _texts(column)))})"


def _texts(column: ArgColumn) -> list[str]:
    texts = [text for arg in column.args for text in arg.values]
    texts += [one for arg in column.args for one in arg.none if isinstance(one, str)]
    return list(dict.fromkeys(texts))


def _faults(
    folder: Folder, layer: Layer, table: str, check: _Check, examples: int
) -> Iterator[Fault]:
    column = check.column
    query = f"SELECT file, row, name, {quoted(column.name)} FROM {table} WHERE {check.condition}"
    for file, count, first in bad_rows(folder.facts, query, examples):
        row = first[0][1]
        yield Fault(
            file,
            f"{layer.name}: {column.name}",
            count=count,
            total=folder.facts.count(table, file),
            row=row,
            at=place_of_event(folder, file, row, "args", column.name),
            examples=[
                example_of(("event", "name", column.name), one[1:]) for one in first[:examples]
            ],
            expected=check.expected,
            query=query,
        )
