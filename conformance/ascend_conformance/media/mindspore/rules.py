"""The rules of MindSpore's raw and intermediate files, loaded from ``rules/mindspore/*.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ascend_spec import per_spec
from ascend_spec.core import DAYS

from ...engine.file_rules import TableSearch, table_search
from ...ruleset import Rule, rules_in


@dataclass(frozen=True, slots=True)
class FileSearch(TableSearch):
    """Where a rule looks.

    ``next_to``: whether its breaks are tried where the raw files lie in a folder next to the
    intermediate ones.
    """

    next_to: bool = False


FileRule: TypeAlias = Rule[FileSearch]


def in_force(rule: FileRule, day: str) -> bool:
    """Whether a rule is for files of a day."""
    return DAYS.in_force(rule, day)


@per_spec
def load_file_rules() -> Mapping[str, FileRule]:
    """Every rule by id, in the order of the ids."""
    return rules_in("mindspore", _search)


def _search(document: Mapping[str, Any]) -> FileSearch:
    found = table_search(document)
    next_to = document.get("next_to", False)
    return FileSearch(found.table, found.shows, found.needs, found.victim, next_to)
