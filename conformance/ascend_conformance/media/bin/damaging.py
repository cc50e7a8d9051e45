"""A block file damaged as a rule's break does."""

from __future__ import annotations

from pathlib import Path

from ascend_ref.atomic import atomic_file
from ascend_ref.bin import Unreadable, read_blocks

from ...engine.damaging import Change
from ...engine.trials import NotBreakable
from .edits import apply_edits
from .facts import open_facts
from .judge import collect
from .rules import BinRule, in_force


def damage_blocks(path: Path, rule: BinRule) -> list[Change]:
    """Carry out a rule's break in a file. Raises :class:`NotBreakable`, ``OSError``."""
    if not rule.breaks:
        raise NotBreakable("the rule states no break")
    content = path.read_bytes()
    try:
        file = read_blocks(content, path.name)
    except Unreadable as problem:
        raise NotBreakable(str(problem)) from problem
    with open_facts() as facts:
        epoch, _ = collect(file, facts)
        if not in_force(rule, epoch):
            raise NotBreakable("the rule is about files of another time")
        victim = facts.victim(rule.search.victim)
    damaged = apply_edits(file, rule.breaks, victim)
    if damaged == content:
        raise NotBreakable("it changes nothing here")
    with atomic_file(path) as target:
        target.write(damaged)
    return [Change(str(path), _words(edit, victim)) for edit in rule.breaks]


def _words(edit: object, victim: object) -> str:
    return f"edit {edit}" + (f" with {victim}" if victim else "")
