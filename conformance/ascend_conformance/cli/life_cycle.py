"""``ascend-ref ge life-cycle`` and ``conform-life-cycle``: the calls of ``ge/ge_prof.h``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, get_args

import click

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import number
from ascend_ref.cli.progress import progress_bar
from ascend_spec.ge import FirstMode, Reading

from ..media import load_rules
from ..report import ReportError, render_to_stdout, write_report
from .reporting import report_files, report_format, report_target
from .trying import hypothesis_for, limits

if TYPE_CHECKING:
    from ..harness.life_cycle import LifeCycleOutcome


def reading_option(words: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """The option for the reading of the life cycle."""
    return click.option("--reading", type=click.Choice(get_args(Reading)), help=words)


start_flag = click.option(
    "--start-flag",
    is_flag=True,
    help="As upstream: the flag of a start is cleared by a successful stop alone (erratum G63).",
)


@click.command("life-cycle")
@reading_option("What documents describe, or what the runtime does.  [default: that of start]")
@start_flag
def life_cycle(reading: Reading | None, start_flag: bool) -> int:
    """Answer calls of ge/ge_prof.h on standard input, one a line, as the model does.

    The lines are those of exchange/life-cycle-protocol. Without start the reading is strict.
    """
    from ascend_simulator.ge.life_cycle import Rules
    from ascend_simulator.ge.life_cycle.wire import LONGEST, WrongLine, answers

    rules = Rules(reading or "strict", start_flag)
    lines = iter(lambda: sys.stdin.buffer.readline(LONGEST + 1), b"")
    try:
        for line in answers(lines, rules, has_reading=reading is not None):
            click.echo(line)
    except WrongLine as problem:
        raise CommandError(f"standard input: {problem}") from problem
    return 0


@click.command("conform-life-cycle")
@click.argument("command", metavar="COMMAND")
@reading_option("What documents describe, or what the runtime does.  [default: strict]")
@start_flag
@click.option(
    "--mode",
    "modes",
    type=click.Choice(get_args(FirstMode)),
    multiple=True,
    help="Who has the profiling at the start. Repeatable.  [default: each in turn]",
)
@number("--examples", 1, 1_000_000, 500, "Sequences that are drawn for OFF; a fifth for others.")
@number("--seed", 0, None, 0, "Chooses the sequences.")
@limits(10.0, "answer", "the command")
@click.option(
    "--keep",
    is_flag=True,
    help="Start COMMAND once; start then begins each sequence in it.",
)
@report_format
@report_files
def conform_life_cycle(
    command: str,
    reading: Reading | None,
    start_flag: bool,
    modes: tuple[FirstMode, ...],
    examples: int,
    seed: int,
    timeout: float,
    keep: bool,
    memory: int,
    format_: str,
    reports: tuple[str, ...],
) -> int:
    """Try an implementation of the functions of ge/ge_prof.h, in any language.

    COMMAND is started anew for each sequence of calls, which it reads as lines of
    exchange/life-cycle-protocol. A sequence that is answered wrongly is shrunk to the shortest.

    Exit codes: 0 conforms, 1 a sequence is answered wrongly, 2 it cannot be tried.
    """
    from ascend_simulator.ge.life_cycle import Rules

    with hypothesis_for("sequences"):
        from ..harness.life_cycle import NoProgram, Program
        from ..harness.life_cycle import conform_life_cycle as conform
    from ..harness.limits import Limits

    targets = [report_target(text) for text in reports]
    try:
        program = Program(command, Limits(timeout, memory), keep=keep)
    except NoProgram as problem:
        raise CommandError(str(problem)) from problem
    try:
        with progress_bar("trying") as progress:
            outcome = conform(
                program,
                Rules(reading or "strict", start_flag),
                examples=examples,
                seed=seed,
                modes=modes or get_args(FirstMode),
                progress=progress,
            )
        _report(outcome, format_, targets)
    except ReportError as problem:
        raise CommandError(str(problem)) from problem
    finally:
        program.close()
    return int(outcome.fails)


def _report(outcome: LifeCycleOutcome, format_: str, targets: list[tuple[str, str]]) -> None:
    from ..harness.life_cycle import as_text, report_of

    report, rules = report_of(outcome), load_rules()
    for kind, path in targets:
        write_report(kind, path, report, rules)
    if format_ in ("summary", "text"):
        click.echo(as_text(outcome), nl=False)
    else:
        render_to_stdout(format_, report, rules, sys.stdout, os.environ)
