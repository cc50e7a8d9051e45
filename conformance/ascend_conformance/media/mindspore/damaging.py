"""Raw and intermediate files damaged as a rule's break does."""

from __future__ import annotations

from pathlib import Path

from ...engine.damaging import Change
from ...engine.trials import NotBreakable
from .edits import apply_edits
from .facts import open_facts
from .folder import MEDIUM
from .gather import read_folder
from .rules import FileRule, in_force


def damage_files(path: Path, rule: FileRule) -> list[Change]:
    """Carry out a rule's break in a folder. Raises :class:`NotBreakable`, ``OSError``."""
    if rule.medium != MEDIUM:
        raise NotBreakable("relations are broken in databases, CSV files and timelines alone")
    if not rule.breaks:
        raise NotBreakable("the rule states no break")
    with open_facts() as facts:
        folder = read_folder(facts, path, path.name)
        if not in_force(rule, folder.day):
            raise NotBreakable("the rule is about files of another time")
        done = apply_edits(folder, rule.breaks, facts.victim(rule.search.victim))
    return [Change(str(changed), f"edit {dict(edit)}") for changed, edit in done]
