"""The facts of one PROF_*: a private SQLite database that the rules ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from ascend_spec import per_spec
from ascend_spec.core import packaged

from ...engine.file_rules import PLACE
from ...engine.sqlite_facts import SqliteFacts, open_sqlite

OF_KINDS = ("damage", "head", "unknown_text")
"""Tables whose rows are about files of the kind in their column ``of``."""


@per_spec
def fact_tables() -> Mapping[str, Sequence[str]]:
    """The columns of each table, without those of the place (``facts.yaml``)."""
    return {
        name: tuple(document["columns"])
        for name, document in packaged(__package__, "facts.yaml").items()
    }


@per_spec
def views() -> Mapping[str, str]:
    """Queries that several rules share, by the name of the view (``views.yaml``)."""
    found: Mapping[str, str] = packaged(__package__, "views.yaml")
    return found


@contextmanager
def open_facts() -> Iterator[SqliteFacts]:
    """An empty database of facts, gone when the block ends."""
    tables = {name: (*PLACE, *columns) for name, columns in fact_tables().items()}
    with open_sqlite("OFF") as connection:
        yield SqliteFacts(connection, tables, views())
