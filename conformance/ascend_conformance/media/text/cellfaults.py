"""The faults of cells, as the checks of :mod:`.cells` find them in every CSV file of a folder."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_ref.text.read import columns_of
from ascend_spec import text_catalog

from ...compare.sql import quoted
from .cells import CellCheck, checks_of
from .findings import Fault, example_of
from .folder import Folder
from .loadcsv import PLACE


def cell_faults(folder: Folder, examples: int) -> Iterator[tuple[CellCheck, Fault]]:
    """Every kind of fault in every column of every file."""
    for number in folder.csv:
        yield from _judge_file(folder, number, examples)


def _judge_file(folder: Folder, number: int, examples: int) -> Iterator[tuple[CellCheck, Fault]]:
    name = folder.files[number].name
    at = folder.at[number]
    table = f"raw.{quoted(name)}"
    writer = text_catalog().writers[at.writer]
    columns = columns_of(name, folder.facts.columns(f"raw.{name}")[len(PLACE) :], writer.id)
    certain = folder.known("family") == at.family
    checks = [
        check
        for text, column in columns
        for check in checks_of(text, column, writer, at.family)
        if certain or check.fault != "uncounted"
    ]
    if not checks:
        return
    counted = ", ".join(f"count(*) FILTER ({check.condition})" for check in checks)
    row = folder.facts.rows(f"SELECT count(*), {counted} FROM {table} WHERE file = {number}")[0]
    total, counts = row[0], row[1:]
    for check, count in zip(checks, counts, strict=True):
        if count:
            query = (
                f'SELECT file, row, line, "offset", {quoted(check.name)} FROM {table} '
                f"WHERE file = {number} AND ({check.condition})"
            )
            found = folder.facts.rows(f"{query} ORDER BY row LIMIT {max(examples, 1)}")
            yield (
                check,
                Fault(
                    number,
                    check.name,
                    count=count,
                    total=total,
                    row=found[0][1],
                    line=found[0][2],
                    offset=found[0][3],
                    examples=[example_of((check.name,), one[4:]) for one in found[:examples]],
                    expected=check.expected,
                    errata=check.column.errata,
                    query=query,
                ),
            )
