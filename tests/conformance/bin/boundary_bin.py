"""The boundary campaign on ``visualize_data.bin``: each comparison of each rule flipped.

A flipped rule is noticed where it finds another number of facts, or another first one, than the
rule itself: in a clean file, after a break, after one of its keeps, or in a real file. What no
file of our own notices is also broken and kept in real files, which are of older epochs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import apsw
from boundary_tokens import mutants

from ascend_conformance.engine.trials import NotBreakable
from ascend_conformance.media.bin.edits import apply_edits
from ascend_conformance.media.bin.facts import Facts, open_facts
from ascend_conformance.media.bin.judge import collect, judge_content
from ascend_conformance.media.bin.queries import _query
from ascend_conformance.media.bin.rules import BinRule, in_force, load_bin_rules
from ascend_conformance.media.bin.selftest import SUBJECTS, WITHOUT_EXAMPLES, clean_file
from ascend_ref.bin.container import read_blocks

Seen = tuple[int, int | None]
REAL = Path(__file__).parents[3] / ".." / "shared" / "data" / "bin"


def seen(facts: Facts, rule: BinRule) -> Seen:
    """How many facts a rule finds, and the first."""
    try:
        ((number, first),) = facts.rows(
            f"SELECT count(*), min(row) FROM (SELECT DISTINCT row FROM ({_query(rule)}))"
        )
    except apsw.Error:
        return (-1, None)
    return (number, first)


@cache
def subjects() -> Mapping[str, bytes]:
    """Clean files of our own, and real ones where they are at hand."""
    own = {name: clean_file(name) for name in SUBJECTS}
    return own | {path.name: path.read_bytes() for path in sorted(REAL.glob("*.bin"))}


def campaign(rules: Sequence[str] | None = None) -> tuple[int, list[str], list[str]]:
    """Number of flips, those that nothing notices, and keeps that are not legal."""
    asked = [
        rule
        for rule in load_bin_rules().values()
        if (rule.row or rule.select) and (rules is None or rule.id in rules)
    ]
    alive = {rule.id: mutants(rule) for rule in asked}
    number = sum(map(len, alive.values()))
    illegal: set[str] = set()
    possible: set[tuple[str, str]] = set()
    for name, content in subjects().items():
        known = {one.rule for one in judge_content(content, name, WITHOUT_EXAMPLES).findings}
        with open_facts() as facts:
            file = read_blocks(content, name)
            epoch, _ = collect(file, facts)
            for rule in asked:
                if not in_force(rule, epoch):
                    continue
                _strike(alive[rule.id], facts, rule)
                if name not in SUBJECTS and not alive[rule.id]:
                    continue
                cases = [("break", rule.breaks)] if rule.breaks else []
                for words, edits in [*cases, *rule.keeps.items()]:
                    if words == "break" and not alive[rule.id]:
                        continue
                    with suppress(NotBreakable):
                        damaged = apply_edits(file, tuple(edits), facts.victim(rule.search.victim))
                        with open_facts() as changed:
                            collect(read_blocks(damaged, name), changed)
                            _strike(alive[rule.id], changed, rule)
                        if words != "break":
                            possible.add((rule.id, words))
                            found = judge_content(damaged, name, WITHOUT_EXAMPLES).findings
                            woken = sorted({one.rule for one in found} - {*rule.also, *known})
                            if woken:
                                illegal.add(f"{rule.id} {words}: wakes {woken} in {name}")
    for rule in asked:
        for words in rule.keeps:
            if (rule.id, words) not in possible:
                illegal.add(f"{rule.id} {words}: possible nowhere")
    _strike_elsewhere(alive)
    left = [f"{rule}: {at}" for rule, flipped in alive.items() for at in flipped]
    return number, sorted(left), sorted(illegal)


def _strike(alive: dict[str, BinRule], facts: Facts, rule: BinRule) -> None:
    """Drop the mutants that find something else than the rule."""
    expected = seen(facts, rule) if alive else (0, None)
    for at, flipped in list(alive.items()):
        if seen(facts, flipped) != expected:
            del alive[at]


def _strike_elsewhere(alive: Mapping[str, dict[str, BinRule]]) -> None:
    """Drop the mutants that fire on the break of another rule, where the rule itself is silent."""
    for name in SUBJECTS:
        file = read_blocks(clean_file(name), name)
        with open_facts() as facts:
            epoch, _ = collect(file, facts)
            for broken in load_bin_rules().values():
                if not (broken.breaks and in_force(broken, epoch)):
                    continue
                with suppress(NotBreakable), open_facts() as changed:
                    damaged = apply_edits(file, broken.breaks, facts.victim(broken.search.victim))
                    collect(read_blocks(damaged, name), changed)
                    for rule in load_bin_rules().values():
                        other = rule.id not in {broken.id, *(broken.also or ())}
                        asked = alive.get(rule.id) and other and in_force(rule, epoch)
                        if asked and seen(changed, rule) == (0, None):
                            _strike(alive[rule.id], changed, rule)
