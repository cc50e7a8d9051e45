"""The rules of MindSpore's raw and intermediate files, loaded from ``rules/mindspore/*.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ascend_spec import per_spec
from ascend_spec.core import DAYS

from ...ruleset import Rule, rules_in


@dataclass(frozen=True, slots=True)
class FileSearch:
    """Where a rule looks in the files of a folder.

    ``table`` is the table of facts whose rows ``row`` looks at, or ``select`` returns in its first
    column, called ``row``; ``of``: the kind of damage, and the only rows of ``damage`` that it is
    about. ``shows`` are its columns that are shown as examples. ``needs``: further tables without
    whose rows there is nothing to judge. The breaks are edits (:mod:`.edits`); ``victim`` is a
    SELECT over the clean folder's facts, whose columns fill the ``{names}`` in them. ``next_to``:
    whether they are tried where the raw files lie in a folder next to the intermediate ones.
    """

    table: str
    shows: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    victim: str | None = None
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
    shows, needs = (tuple(document.get(name, ())) for name in ("shows", "needs"))
    next_to = document.get("next_to", False)
    return FileSearch(document["table"], shows, needs, document.get("victim"), next_to)
