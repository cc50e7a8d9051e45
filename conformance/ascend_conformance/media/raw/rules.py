"""The rules of raw files, loaded from ``rules/raw/*.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ascend_spec import per_spec

from ...engine.file_rules import TableSearch, table_search
from ...ruleset import Rule, rules_in

TEXT = "dumps"
"""The theme of the rules on the graph engine's texts about the host."""


RawRule: TypeAlias = Rule[TableSearch]


@per_spec
def load_raw_rules() -> Mapping[str, RawRule]:
    """Every rule by id, in the order of the ids."""
    return rules_in("raw", table_search)
