"""Rules that SQL judges, and their findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import duckdb
import pyarrow as pa

from ascend_ref.db.display import clip, printable
from ascend_spec import text_catalog

from ...compare.sql import text_literal
from ...engine.asking import Asked, Question
from ...engine.failure import Failures
from ...engine.work import NoAnswer, Uncomputable
from ...finding import Finding
from ...options import Options
from .database import Facts
from .deadlines import Deadlines
from .findings import SHOWN, example_of, finding_of
from .folder import Folder
from .places import fault_at
from .rules import TextInstance, TextRule, instances

SECONDS = 120.0
"""After which a query is given up; those of sound folders of any size take a fraction of it.

DuckDB counts no operations, so it has to be time: a join over ids that sound files hold once
multiplies without end where a broken file repeats one of them.
"""

_DEADLINES = Deadlines()

UNCOMPUTABLE = (duckdb.Error, pa.ArrowException, ArithmeticError, ValueError)
"""What SQL, Arrow and NumPy say of values that they cannot compute with."""

MISWRITTEN = (
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.ParserException,
    duckdb.SyntaxException,
    duckdb.TransactionException,
)
"""Of these, what no value is to blame for: the query itself is wrong."""


FATAL = (duckdb.InterruptException, duckdb.OutOfMemoryException)
"""What ends the judgement of the whole folder."""


class GivenUp(NoAnswer):
    """A question without an answer; the text says why, in one line."""


def nothing_asked() -> Asked[Finding]:
    """What came of no question yet, in a folder."""
    return Asked(failures=Failures(FATAL))


Tables = Mapping[str, frozenset[str]]
"""Columns of tables and views, by ``schema.table``."""


def tables_with_rows(facts: Facts) -> Tables:
    """Every table and view, but for tables of documents that are not there."""
    tables = facts.tables()
    found = facts.rows(
        " UNION ALL ".join(
            f"SELECT {text_literal(name)} WHERE NOT EXISTS (FROM {name})"
            for name in sorted(tables)
            if name.startswith("doc.")
        )
    )
    empty = {name for (name,) in found}
    return {name: columns for name, columns in tables.items() if name not in empty}


def ask(
    folder: Folder, rules: Sequence[TextRule], options: Options, tables: Tables
) -> Asked[Finding]:
    """Judge every rule that has a ``row`` or a ``select``, at each of its tables that there are."""
    asked = nothing_asked()
    asked.ask(
        Question(
            (instance,),
            lambda subjects: _findings(folder, subjects[0], options),
            partial(limited, folder.facts.connection),
            _unaskable(folder, instance, tables),
        )
        for rule in rules
        for instance in (one.showing(tables.get(one.at, ())) for one in instances(rule))
    )
    return asked


@contextmanager
def limited(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Ends a query made inside: after :data:`SECONDS`, or where it cannot be computed.

    Files and databases can hold values that no arithmetic of ours was made for. Raises
    :class:`GivenUp` or :class:`.Uncomputable`, and what is :data:`MISWRITTEN` as it is.
    """
    try:
        with _DEADLINES.within(SECONDS, connection.interrupt):
            yield
    except duckdb.InterruptException as problem:
        raise GivenUp(f"given up after {SECONDS:.0f} s: too many rows share one id") from problem
    except duckdb.OutOfMemoryException as problem:
        raise GivenUp("given up: it takes more memory than a query may have") from problem
    except MISWRITTEN:
        raise
    except UNCOMPUTABLE as problem:
        said = str(problem).strip().partition("\n")[0] or type(problem).__name__
        raise Uncomputable(f"cannot be computed: {clip(printable(said), SHOWN)}") from problem


def _unaskable(folder: Folder, instance: TextInstance, tables: Tables) -> str | None:
    """``None``: ask it. Empty text: nothing of this kind is here. Else why it cannot be asked."""
    if not is_for(folder, instance):
        return ""
    absent = lacking(tables, instance)
    if not absent:
        return None
    here = [table for table, _ in map(_split, instance.needs) if table in tables]
    if not here or any(table == instance.at and table in here for table, _ in absent):
        return ""  # a header that lacks a column has a finding of its own
    table, column = absent[0]
    if table.startswith("db.") and folder.database is None:
        return "no readable database lies next to these files"
    if column and table in tables:
        return f"{table} has no column {column}"
    return f"nothing here shows {table}"


def is_for(folder: Folder, instance: TextInstance) -> bool:
    """Whether a rule is for the output and the writers of its files."""
    rule = instance.rule
    if rule.search.outputs and folder.output not in rule.search.outputs:
        return False
    writers = _writers(folder, instance.at)
    wanted = not rule.search.writers or not writers.isdisjoint(rule.search.writers)
    return wanted and writers.isdisjoint(rule.search.not_writers)


def _split(need: str) -> tuple[str, str]:
    """Table and column of ``schema.table`` or ``schema.table.column``."""
    schema, _, rest = need.partition(".")
    name, _, column = rest.partition(".")
    return f"{schema}.{name}", column


def lacking(tables: Tables, instance: TextInstance) -> list[tuple[str, str]]:
    """The tables and columns without which a rule cannot be asked and that are not there."""
    needed = map(_split, instance.needs)
    return [
        (table, column)
        for table, column in needed
        if table not in tables or (column and column not in tables[table])
    ]


def _writers(folder: Folder, table: str) -> set[str]:
    """The writers of the files that a table is filled from, and the newest of their kinds."""
    schema, _, name = table.partition(".")
    kinds = {"csv": "csv", "raw": "csv", "trace": "timeline", "doc": "document"}
    known = text_catalog().writers
    return {
        one
        for number, writer in folder.writers.items()
        for one in known[writer].kin
        if schema not in kinds
        or (
            folder.files[number].kind == kinds[schema]
            and (kinds[schema] != "csv" or folder.files[number].name == name)
        )
    }


def _findings(folder: Folder, instance: TextInstance, options: Options) -> Iterator[Finding]:
    facts = folder.facts
    # The first rows with the count: windows and joins of a query are not computed twice.
    count, first = facts.rows(
        "SELECT count(*), arg_min(bad, {'file': bad.file, 'row': bad.row}, "
        f"{max(options.max_examples, 1)}) FROM ({instance.query}) bad"
    )[0]
    if not count:
        return
    examples = [example_of(tuple(one), tuple(one.values())) for one in first]
    fault = fault_at(
        folder,
        instance.at,
        instance.column,
        (first[0]["file"], first[0]["row"]),
        instance.query,
        options,
        count=count,
        total=facts.value(f"SELECT count(*) FROM {instance.at}"),
        examples=examples[: options.max_examples],
    )
    yield finding_of(folder, instance.rule, fault)
