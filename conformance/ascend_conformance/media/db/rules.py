"""The rules of databases, loaded from ``rules/*.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ascend_spec import per_spec
from ascend_spec.core import DAYS
from ascend_spec.db.model import Carrier

from ...ruleset import Rule, rules_in

BETWEEN_RANKS = "group-name-differs-between-ranks"
"""The code of the rule that compares the databases of several ranks (:mod:`.checks.ranks`)."""

LAST_STAGE = 3
"""Stages: 0 kind of value, 1 range, 2 reference, 3 everything with a meaning."""


@dataclass(frozen=True, slots=True)
class DbSearch:
    """Where a rule looks in a database, and what it needs there.

    A rule without ``row`` and ``select`` names a check in Python (``code``: ``media.db.checks``).
    ``stage`` orders the rules: rows that a lower stage condemned are left out when a higher stage
    looks at the same columns. A ``fragile`` rule is not judged at all then, because leaving rows
    out could break it by itself. ``repeats`` names a column without which repeated values the rule
    cannot be broken. ``unless``: by reason, the SQL expression that holds where a SELECT cannot be
    judged.
    """

    carriers: tuple[Carrier, ...] = ()
    places: str | tuple[Mapping[str, str], ...] = "file"
    uses: tuple[str, ...] = ()
    code: str | None = None
    repeats: str | None = None
    unless: Mapping[str, str] = field(default_factory=dict)
    stage: int = LAST_STAGE
    fragile: bool = False

    @property
    def compares_ranks(self) -> bool:
        """Judged over all databases of a run together, not over one."""
        return self.code == BETWEEN_RANKS


DbRule: TypeAlias = Rule[DbSearch]


@per_spec
def load_db_rules() -> Mapping[str, DbRule]:
    """Every rule by id, in the order of the ids."""
    return rules_in("db", db_search, folder="")


def applies_at(rule: DbRule, carrier: Carrier, date: str) -> bool:
    """Whether the rule is in force for a carrier on a revision's date."""
    carriers = rule.search.carriers
    return (not carriers or carrier in carriers) and DAYS.in_force(rule, date)


_AS_STATED = ("code", "repeats", "unless", "stage", "fragile")


def db_search(document: Mapping[str, Any]) -> DbSearch:
    """What a rule document says of where to look."""
    return DbSearch(
        carriers=tuple(document.get("carriers", ())),
        places=_places(document),
        uses=tuple(document.get("uses", ())),
        **{name: document[name] for name in _AS_STATED if name in document},
    )


def _places(document: Mapping[str, Any]) -> str | tuple[Mapping[str, str], ...]:
    selector = document.get("for")
    if isinstance(selector, dict):
        return tuple(selector["places"])
    if selector:
        return str(selector)
    return ({"table": document["table"]},) if "table" in document else "file"
