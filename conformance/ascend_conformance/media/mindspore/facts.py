"""The facts of one folder: a private SQLite database that the rules ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from ascend_ref.mindspore.convert.clock import TICK, UNIX
from ascend_spec import mindspore_catalog, per_spec
from ascend_spec.core import packaged
from ascend_spec.mindspore import IntermediateFile

from ...engine.file_rules import PLACE
from ...engine.sqlite_facts import SqliteFacts, open_sqlite
from ...ruleset import fill

KINDS = ("damage", "cell_fault", "row_fault", "header", "remade")
"""Tables whose rows are about files of the kind in their column ``of``."""

HAS_ROWS = ("csv", "lines", "number")
"""Forms of intermediate files whose rows are facts."""


@per_spec
def fact_tables() -> Mapping[str, Sequence[str]]:
    """The columns of each table, without those of the place (``facts.yaml``, mindspore/tables)."""
    stated = {
        name: tuple(document["columns"])
        for name, document in packaged(__package__, "facts.yaml").items()
    }
    files = mindspore_catalog().tables.values()
    return {**stated, **{one.table: own_columns(one) for one in files if one.form in HAS_ROWS}}


def own_columns(table: IntermediateFile) -> Sequence[str]:
    """The columns of an intermediate file that is read row by row, those of all days.

    ``end`` is 1 for a row that sums up the others. SQL takes capitals for small letters.
    """
    found: dict[str, str] = {}
    for one in table.all_columns:
        if one.each is None:
            name = one.name.replace(" ", "_")
            is_taken = found.get(name.casefold(), name) != name
            name = f"{name}_" if is_taken else name
            found[name.casefold()] = name
    return (*found.values(), "end")


@per_spec
def views() -> Mapping[str, str]:
    """Queries that several rules share, by the name of the view (``views.yaml``)."""
    known = {"unix": str(UNIX // TICK)}
    queries = packaged(__package__, "views.yaml")
    return {name: fill(query, known) for name, query in queries.items()}


@contextmanager
def open_facts() -> Iterator[SqliteFacts]:
    """An empty database of facts, gone when the block ends."""
    tables = {name: (*PLACE, *columns) for name, columns in fact_tables().items()}
    with open_sqlite("MEMORY") as connection:  # relations are tried and undone
        yield SqliteFacts(connection, tables, views())
