"""Run the rules' self-test and print its sums."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import click

from ascend_ref.cli.progress import progress_bar

from ..engine.trials import Trials
from ..media import Medium, SelfTest, load_rules, media
from ..ruleset import Rule

LISTED = 200


def run_and_print(
    revisions: Sequence[str] | None,
    specimens: Collection[str],
    named: Collection[str] | None,
    *,
    as_json: bool,
) -> int:
    """Exit code 0 when every mutation woke exactly its own rule, else 1.

    ``specimens`` are the clean files to break, as media name them (:attr:`.Medium.specimens`);
    ``named``: the ids of the rules to try, all without. Of rules that were named, it is a failure
    as well that none could be broken.
    """
    results: dict[str, Trials] = {}
    for name, medium in media().items():
        rules = _of(medium.rules().values(), named)
        usable = specimens if named is None else {*specimens} & _specimens(medium, rules)
        chosen = [one for one in medium.specimens if one in usable]
        if chosen:
            title = f"breaking {', '.join(chosen)}"
            with progress_bar(title) as advance:
                progress = advance and partial(_advance, advance, title)
                result = medium.self_test(
                    SelfTest(
                        chosen,
                        revisions,
                        os.cpu_count() or 1,
                        progress,
                        named and [rule.id for rule in rules],
                    )
                )
            in_part = (
                rule.id
                for rule in rules
                if revisions is not None or not set(medium.specimens_of(rule)) <= set(chosen)
            )
            results[name] = replace(result, partial=frozenset(in_part))
    sums = summary(results, named)
    passed = all(result.passed for result in results.values())
    if named is not None:
        passed = passed and sums["mutations"] > 0
    if as_json:
        click.echo(json.dumps({**sums, "passed": passed}, indent=2))
    else:
        width = max(map(len, sums))
        for name, number in sums.items():
            click.echo(f"{name.replace('_', ' '):<{width}} {number:>9,}")
        faults = [line for result in results.values() for line in _faults(result)]
        if named is not None:
            faults += [line for result in results.values() for line in _never_broken(result)]
        for line in faults[:LISTED]:
            click.echo(line)
        if len(faults) > LISTED:
            click.echo(f"and {len(faults) - LISTED} more")
        click.echo("passed" if passed else "FAILED")
    return 0 if passed else 1


def _advance(advance: Callable[[int, int, str], None], title: str, done: int, total: int) -> None:
    advance(done, total, title)


def _of(rules: Iterable[Rule[Any]], named: Collection[str] | None) -> list[Rule[Any]]:
    return [rule for rule in rules if named is None or rule.id in named]


def _specimens(medium: Medium, rules: Iterable[Rule[Any]]) -> set[str]:
    return {one for rule in rules for one in medium.specimens_of(rule)}


def summary(
    by_medium: Mapping[str, Trials], named: Collection[str] | None = None
) -> dict[str, int]:
    """The figures that the self-test prints, over the rules (those named) of the media that it
    broke.
    """
    results = by_medium.values()
    rules = [rule for rule in _of(load_rules().values(), named) if rule.medium in by_medium]
    instances = sum(not trial.legal for result in results for trial in result.trials)
    mutations = [trial for result in results for trial in result.mutations]
    tried = {trial.rule for trial in mutations}
    return {
        "rules": len(rules),
        "structural_rules": sum(rule.structural for rule in rules),
        "semantic_rules": sum(not rule.structural for rule in rules),
        "instances": instances,
        "mutations": len(mutations),
        "caught": sum(trial.caught for trial in mutations),
        "legal_cases": sum(len(result.legal_cases) for result in results),
        "missed": sum(len(result.missed) for result in results),
        "false_alarms": sum(
            len(trial.false_alarms) for result in results for trial in result.false_alarms
        ),
        "findings_on_clean_profiles": sum(len(result.unclean) for result in results),
        "places_that_no_profile_can_break": instances - len(mutations),
        "rules_never_broken": sum(rule.id not in tried for rule in rules),
    }


def _faults(result: Trials) -> Iterator[str]:
    yield from (f"not clean: {text}" for text in result.unclean)
    for trial in result.missed:
        yield f"missed: {trial.words}{f': {trial.wrong}' if trial.wrong else ''}"
    for trial in result.false_alarms:
        others = ", ".join(trial.false_alarms)
        yield f"false alarm: {trial.words} woke {others}"
    yield from (f"legal case possible nowhere: {text}" for text in result.never_legal)


def _never_broken(result: Trials) -> Iterator[str]:
    broken = {trial.rule for trial in result.mutations}
    reasons = {trial.rule: trial.not_broken for trial in reversed(result.trials)}
    for rule, reason in reasons.items():
        if rule not in broken:
            yield f"never broken: {rule}: {reason}"
