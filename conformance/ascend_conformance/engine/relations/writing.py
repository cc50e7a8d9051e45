"""Relations as SQL over the views that they are bound to: what all their queries share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from .rule import Relation
from .views import Dialect, View


def numbered(text: str, relation: Relation, number: int) -> str:
    """SQL of one of several relations: its subqueries read tables of its own."""
    entities = "|".join(sorted(set(relation.search.aliases.values()), key=len, reverse=True))
    return re.sub(rf"\b(FROM|JOIN) ({entities}) ", rf"\1 \2_{number} ", quoted(text, relation))


def numbered_tables(relation: Relation, bound: Mapping[str, View], number: int) -> dict[str, str]:
    """The tables of the subqueries in :func:`numbered`."""
    return {
        f"{entity}_{number}": bound[entity].select(columns, True)
        for entity, columns in relation.search.reads.items()
    }


def with_tables(tables: Mapping[str, str], query: str, dialect: Dialect = "sqlite") -> str:
    """A query after the definitions of those of the tables that it reads, which are not kept."""
    hint = "NOT MATERIALIZED " if dialect == "sqlite" else ""
    read = {match[1] for match in re.finditer(r"\b(?:FROM|JOIN) (\w+)", query)}
    defined = [f"{name} AS {hint}({rows})" for name, rows in tables.items() if name in read]
    return f"WITH {', '.join(defined)} {query}" if defined else query


def with_tables_of(
    relation: Relation,
    bound: Mapping[str, View],
    query: str,
    dialect: Dialect,
    reads: Mapping[str, frozenset[str]] | None = None,
) -> str:
    """The same with the tables that a relation reads, or those of ``reads``."""
    tables = {
        entity: bound[entity].select(columns, dialect == "sqlite")
        for entity, columns in (reads or relation.search.reads).items()
        if entity in bound
    }
    return with_tables(tables, query, dialect)


def slack_of(relation: Relation, bound: Mapping[str, View]) -> int:
    """The tolerance of a comparison of all that the relation reads."""
    return sum(bound[entity].slack for entity in relation.search.reads)


def slacked(text: str, relation: Relation, bound: Mapping[str, View]) -> str:
    """SQL with its tolerance written out."""
    return text.replace("{slack}", str(slack_of(relation, bound)))


def quoted(text: str, relation: Relation, further: str = "") -> str:
    """Columns in quotes, since some are words of SQL."""
    known = relation.search.aliases
    if further:
        known = {**known, **relation.search.aliases_in((further,))}
    return _quoted(text, "|".join(sorted(known, key=len, reverse=True)))


@lru_cache(maxsize=2048)
def _quoted(text: str, aliases: str) -> str:
    parts = re.split(r"('[^']*')", text)
    return "".join(
        part if part.startswith("'") else re.sub(rf"\b({aliases})\.([a-z_]+)\b", r'\1."\2"', part)
        for part in parts
    )
