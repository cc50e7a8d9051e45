"""Args of timelines that are no value of their type, or out of its range or set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ascend_spec.timeline import Layer

from ...compare.sql import quoted, text_literal
from .findings import Fault, example_of, faults_of, place_of_event
from .folder import Folder
from .layers import ArgColumn, arg_columns, layers_by_table


@dataclass(frozen=True, slots=True)
class _Check:
    """One kind of fault of an arg: a condition of its rows, and what is expected.

    ``of_shape``: it holds for events that have the arg, each of their shapes being a fault.
    """

    column: ArgColumn
    condition: str
    expected: str
    of_shape: bool = False


def wrong_args(folder: Folder, examples: int) -> Iterator[Fault]:
    """Args that are no value of their type, or out of its range or set."""
    keys = dict(folder.facts.rows("SELECT DISTINCT shape, keys FROM trace.shape"))
    tables = folder.facts.tables()
    for name, layer in layers_by_table().items():
        table = f"trace.{name}"
        columns = (one for one in arg_columns(name) if one.name in tables.get(table, ()))
        checks = [check for column in columns for check in _checks(column)]
        for check in _failing(folder, table, checks, keys):
            yield from _faults(folder, layer, table, check, examples)


def _failing(
    folder: Folder, table: str, checks: Sequence[_Check], keys: Mapping[int, Sequence[str] | None]
) -> Iterator[_Check]:
    """The checks that some row fails."""
    if not checks:
        return
    counted = ", ".join(f"count(*) FILTER ({one.condition})" for one in checks)
    select = f"SELECT shape, {counted} FROM {table} GROUP BY shape ORDER BY shape"
    found: dict[str, _Check] = {}
    for shape, *counts in folder.facts.rows(select):
        for check in (one for one, count in zip(checks, counts, strict=True) if count):
            if not check.of_shape:
                found.setdefault(check.condition, check)
            elif check.column.name in (keys.get(shape) or ()):
                condition = f"{check.condition} AND shape = {shape}"
                found[condition] = replace(check, condition=condition)
    yield from found.values()


def _checks(column: ArgColumn) -> Iterator[_Check]:
    """The checks of an arg that follow from the spec."""
    value = quoted(column.name)
    if column.type not in ("BIGINT", "DOUBLE"):
        if all(arg.values for arg in column.args):
            texts = [text for arg in column.args for text in arg.values]
            texts += [one for arg in column.args for one in arg.none if isinstance(one, str)]
            distinct = list(dict.fromkeys(texts))
            condition = f"{value} NOT IN ({', '.join(map(text_literal, distinct))})"
            yield _Check(column, condition, f"one of {', '.join(distinct)}")
        return
    numbers = ", ".join(str(one) for arg in column.args for one in arg.none if isinstance(one, int))
    allowed = f" AND {value} NOT IN ({numbers})" if numbers else ""
    least = [arg.minimum for arg in column.args if arg.minimum is not None]
    most = [arg.maximum for arg in column.args if arg.maximum is not None]
    if len(least) == len(column.args):
        yield _Check(column, f"{value} < {min(least)}{allowed}", f"at least {min(least)}")
    if len(most) == len(column.args):
        yield _Check(column, f"{value} > {max(most)}{allowed}", f"at most {max(most)}")
    may_lack = (
        "null" in arg.json or any(isinstance(one, str) for one in arg.none) for arg in column.args
    )
    if not any(may_lack):
        kind = "a whole number" if column.type == "BIGINT" else "a number"
        yield _Check(column, f"{value} IS NULL", kind, of_shape=True)


def _faults(
    folder: Folder, layer: Layer, table: str, check: _Check, examples: int
) -> Iterator[Fault]:
    column = check.column
    query = f"SELECT file, row, name, {quoted(column.name)} FROM {table} WHERE {check.condition}"
    names = ("event", "name", column.name)
    return faults_of(
        folder,
        table,
        query,
        examples,
        lambda row: place_of_event(folder, *row[:2], "args", column.name),
        lambda row: example_of(names, row[1:]),
        column=f"{layer.name}: {column.name}",
        expected=check.expected,
    )
