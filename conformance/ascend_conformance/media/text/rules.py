"""The rules of the text deliverables, loaded from ``rules/text/*.yaml``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ascend_spec import per_spec

from ...compare.agreement import Agreement, agreement_of
from ...ruleset import Rule, fill, rules_in


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
        needs = [table, *fill(rule.search.needs, place)]
        if column and table.startswith(("csv.", "raw.")):
            needs.append(f"{table}.{column}")
        yield TextInstance(
            rule,
            table,
            column,
            fill(rule.select, place) or _query(rule, table, column, place),
            tuple(dict.fromkeys(needs)),
            place,
        )


def _query(rule: TextRule, table: str, column: str | None, place: Mapping[str, str]) -> str:
    shown = fill(rule.search.shows, place) or ([column] if column else [])
    columns = "".join(f', "{name}"' for name in shown) if shown else ", *"
    return f"SELECT file, row{columns} FROM {table} WHERE {fill(rule.row or '', place)}"


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
