"""The rules of raw files, loaded from ``rules/raw/*.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ascend_spec import per_spec

from ...ruleset import Rule, rules_in

TEXT = "dumps"
"""The theme of the rules on the graph engine's texts about the host."""


@dataclass(frozen=True, slots=True)
class RawSearch:
    """Where a rule looks in the files of a PROF_*.

    ``table`` is the table of facts whose rows ``row`` looks at, or ``select`` returns in its first
    column, called ``row``. ``shows`` are its columns that are shown as examples. ``needs``: further
    tables without whose rows there is nothing to judge. The breaks are edits
    (:mod:`...engine.file_edits`); ``victim`` is a SELECT over the clean folder's facts, whose
    columns fill the ``{names}`` in them.
    """

    table: str
    shows: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    victim: str | None = None


RawRule: TypeAlias = Rule[RawSearch]


@per_spec
def load_raw_rules() -> Mapping[str, RawRule]:
    """Every rule by id, in the order of the ids."""
    return rules_in("raw", _search)


def _search(document: Mapping[str, Any]) -> RawSearch:
    shows, needs = (tuple(document.get(name, ())) for name in ("shows", "needs"))
    return RawSearch(document["table"], shows, needs, document.get("victim"))
