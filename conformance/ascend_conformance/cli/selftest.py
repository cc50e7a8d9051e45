"""Run the rules' self-test and print its sums."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import click

from ascend_spec.model import Carrier

from ..ruleset import load_rules
from ..selftest import SelfTest, run

LISTED = 20


def run_and_print(
    revisions: Sequence[str] | None, carriers: Sequence[Carrier], as_json: bool
) -> int:
    """Exit code 0 when every mutation woke exactly its own rule, else 1."""
    with _progress() as progress:
        result = run(carriers, revisions, processes=os.cpu_count() or 1, progress=progress)
    sums = summary(result)
    if as_json:
        click.echo(json.dumps({**sums, "passed": result.passed}, indent=2))
    else:
        width = max(map(len, sums))
        for name, number in sums.items():
            click.echo(f"{name.replace('_', ' '):<{width}} {number:>9,}")
        for line in _faults(result):
            click.echo(line)
        click.echo("passed" if result.passed else "FAILED")
    return 0 if result.passed else 1


def summary(result: SelfTest) -> dict[str, int]:
    """The figures that the self-test prints."""
    rules = load_rules()
    return {
        "rules": len(rules),
        "structural_rules": sum(rule.structural for rule in rules.values()),
        "semantic_rules": sum(not rule.structural for rule in rules.values()),
        "instances": len(result.trials),
        "mutations": len(result.mutations),
        "caught": sum(trial.caught for trial in result.mutations),
        "missed": len(result.missed),
        "false_alarms": sum(len(trial.false_alarms) for trial in result.mutations),
        "findings_on_clean_profiles": len(result.unclean),
        "places_that_no_database_can_break": len(result.trials) - len(result.mutations),
        "rules_never_broken": len(rules.keys() - result.rules_tried),
    }


def _faults(result: SelfTest) -> Iterator[str]:
    lines = [
        *(f"not clean: {text}" for text in result.unclean),
        *(f"missed: {trial.carrier} {trial.revision} {trial.key}" for trial in result.missed),
        *(
            f"false alarm: {trial.carrier} {trial.revision} {trial.key} also woke "
            f"{', '.join(trial.false_alarms)}"
            for trial in result.false_alarms
        ),
    ]
    yield from lines[:LISTED]
    if len(lines) > LISTED:
        yield f"and {len(lines) - LISTED} more"


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None] | None]:
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as display:
        bar = display.add_task("breaking profiles", total=None)

        def advance(done: int, total: int) -> None:
            display.update(bar, completed=done, total=total)

        yield advance
