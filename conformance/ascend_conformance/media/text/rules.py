"""The rules of the text deliverables, loaded from ``rules/text/*.yaml``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ascend_spec import per_spec, text_catalog

from ...compare.agreement import Agreement, agreement_of
from ...compare.sql import quoted
from ...ruleset import Rule, fill, rules_in

_OF_FILES = ("csv", "raw")
_FILE = re.compile(rf"\b({'|'.join(_OF_FILES)})\.([a-z_0-9]+)")
_TEXT = re.compile(r"'(?:[^']|'')*'")
_GIVEN = re.compile(r'\bAS "([^"]+)"')
"""In SQL: the tables of a CSV file, texts, and columns that get a name."""


CELLS = "cell-"
"""Beginning of the names of checks of cells; a kind of fault (:data:`.cells.CellFault`) follows."""
ORDER = "order-of-rows"
CLOCKS = "unfitting-clocks"
DERIVED = (CELLS, ORDER, CLOCKS)
"""How the names of checks begin whose breaks follow from the spec (:mod:`.specbreaks`)."""


@dataclass(frozen=True, slots=True)
class TextSearch:
    """Where a rule looks among the text deliverables, and for which of them it is.

    A rule without SQL has a ``check`` (:mod:`.checks`) or an ``agreement``. ``at`` are the tables
    that the rule is for, with the texts of its placeholders, ``needs`` what its SQL reads in
    addition to them; ``shows`` are columns that are shown as examples.
    """

    at: tuple[Mapping[str, str], ...] = ()
    needs: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    check: str | None = None
    outputs: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()
    not_writers: tuple[str, ...] = ()
    agreement: Agreement | None = None


TextRule: TypeAlias = Rule[TextSearch]


@dataclass(frozen=True, slots=True)
class TextInstance:
    """One rule at one table, with its placeholders filled in.

    ``at`` is the table, ``place`` the texts of the placeholders. ``query`` has a result row for
    each bad row, ``needs`` are the tables and columns without which it cannot be asked. ``breaks``,
    ``found`` and ``keeps`` are filled in when they are asked for: a check has no use for them.
    """

    rule: TextRule
    at: str
    column: str | None
    query: str
    needs: tuple[str, ...]
    place: Mapping[str, str]

    def showing(self, columns: Collection[str]) -> TextInstance:
        """The same rule; of what is shown next to a bad cell, the columns that there are."""
        if self.rule.select:
            return self
        shown = [one for one in _shown(self.rule, self.column, self.place) if one in columns]
        return replace(self, query=_query(self.rule, self.at, self.place, shown))

    @property
    def breaks(self) -> tuple[str, ...]:
        """What the self-test carries out."""
        filled: tuple[str, ...] = fill(self.rule.breaks, self.place)
        return filled

    @property
    def found(self) -> int | str | None:
        """What the rule is to find of it, where that is not all that was changed."""
        filled: int | str | None = fill(self.rule.found, self.place)
        return filled

    @property
    def keeps(self) -> Mapping[str, tuple[str, ...]]:
        """The nearest legal cases by their words."""
        filled: Mapping[str, tuple[str, ...]] = fill(self.rule.keeps, self.place)
        return filled


@per_spec
def load_text_rules() -> Mapping[str, TextRule]:
    """Every rule by id, in the order of the ids."""
    return rules_in("text", text_search)


def instances(rule: TextRule) -> Iterator[TextInstance]:
    """A rule that SQL judges, at each of its tables."""
    for given in rule.search.at if rule.row or rule.select else ():
        table = given["table"]
        place = {"raw": table.replace("csv.", "raw.", 1), **given}
        column = fill(rule.column, place)
        shown = _shown(rule, column, place)
        needs = [table, *fill(rule.search.needs, place)]
        asked = fill(rule.select or rule.row or "", place)
        needs += _read_columns(table, column, asked)
        yield TextInstance(
            rule,
            table,
            column,
            fill(rule.select, place) or _query(rule, table, place, shown),
            tuple(dict.fromkeys(needs)),
            place,
        )


def _shown(rule: TextRule, column: str | None, place: Mapping[str, str]) -> Sequence[str]:
    shown: Sequence[str] = fill(rule.search.shows, place) or ([column] if column else [])
    return shown


def _query(rule: TextRule, table: str, place: Mapping[str, str], shown: Sequence[str]) -> str:
    every = not rule.search.shows and not rule.column
    columns = ", *" if every else "".join(f", {quoted(name)}" for name in shown)
    return f"SELECT file, row{columns} FROM {table} WHERE {fill(rule.row or '', place)}"


@per_spec
def _read_columns(table: str, column: str | None, asked: str) -> tuple[str, ...]:
    """The columns of CSV files without which SQL cannot be asked: those that it names, one of the
    files has, and the SQL itself gives to none.
    """
    schema, _, name = table.partition(".")
    own = [f"{table}.{column}"] if schema in _OF_FILES and column else []
    asked = _TEXT.sub("", asked)
    read = dict.fromkeys(_FILE.findall(asked))
    if schema in _OF_FILES:
        read[schema, name] = None
    files = {one: {column.name for column in text_catalog().csv[one].columns} for _, one in read}
    given = Counter(column for columns in files.values() for column in columns)
    named = {one for one in given if given[one] == 1 and quoted(one) in asked}
    named -= set(_GIVEN.findall(asked))
    others = (
        f"{schema}.{name}.{one}" for schema, name in read for one in sorted(named & files[name])
    )
    return (*own, *others)


def text_search(document: Mapping[str, Any]) -> TextSearch:
    """What a rule document says of where to look."""
    table = document.get("table")
    lists = ("needs", "shows", "outputs", "writers", "not_writers")
    return TextSearch(
        at=tuple(document.get("places") or ([{"table": table}] if table else [])),
        check=document.get("check"),
        agreement=agreement_of(document.get("agreement")),
        **{name: tuple(document.get(name, ())) for name in lists},
    )
