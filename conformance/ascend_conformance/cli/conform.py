"""``ascend-ref conform``: try exporters on simulated recordings."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import number, output, separated
from ascend_ref.cli.outputs import room_for
from ascend_ref.cli.progress import progress_bar
from ascend_ref.cli.suggest import unknown

from ..media import load_rules
from ..report import ReportError, render_to_stdout, write_report
from .reporting import report_files, report_format, report_target
from .trying import hypothesis_for, limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..harness.case import Case
    from ..harness.conform import Outcome
    from ..harness.exporters import Exporter
    from ..harness.limits import Limits
    from ..harness.stages import Stage


@click.command()
@click.option(
    "--exporter",
    "exporters",
    multiple=True,
    metavar="NAME|CMD",
    help="What is tried: reference, msprof-analyze, torch-npu:WHEEL, a command with {in} and "
    "{out}, or jsonl:CMD for a process that speaks the protocol. Repeatable.",
)
@click.option("--stage", metavar="STAGE", help="What it does.  [default: database-to-text]")
@click.option(
    "--against",
    metavar="NAME|CMD",
    help="Compare with what another exporter makes of the same input, not with the truth.",
)
@click.option(
    "--expected",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A YAML file of known failures with reasons; one that does not come fails, too.",
)
@click.option(
    "--features",
    multiple=True,
    metavar="NAMES",
    help="Compare only these files (kernel_details, trace_view), separated by commas.",
)
@number("--scenarios", 0, 10_000, 25, "Cases that are drawn.")
@number("--seed", 0, None, 0, "Chooses the cases.")
@limits(120.0, "export", "a command")
@output("DIR", "Save failures below it: input, expected, actual, findings.", required=False)
@click.option(
    "--replay",
    "replayed",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Try a saved failure again, with its exporter or another one; no case is drawn.",
)
@report_format
@report_files
def conform(
    exporters: tuple[str, ...],
    stage: str | None,
    against: str | None,
    expected: Path | None,
    features: tuple[str, ...],
    scenarios: int,
    seed: int,
    timeout: float,
    memory: int,
    output: Path | None,
    force: bool,
    replayed: Path | None,
    format_: str,
    reports: tuple[str, ...],
) -> int:
    """Run an exporter on simulated recordings, and compare what it writes with the truth.

    Cases are drawn: products, models, switches, faults. Each failure is shrunk to the smallest case
    that shows it. A matrix of exporters and files leads the reports for people.

    Exit codes: 0 conforms, 1 failures, 2 it cannot be tried.
    """
    from ..harness.case import UnreadableCase
    from ..harness.expected import UnreadableExpected, read_expected
    from ..harness.limits import Limits
    from ..harness.named import NoExporter

    if replayed is not None and output is not None:
        raise click.UsageError("a replay saves nothing; expected --replay or -o")
    targets = [report_target(text) for text in reports]
    each = Limits(timeout, memory)
    wanted = frozenset(separated(features)) or None
    try:
        with ExitStack() as stack, progress_bar("drawing") as progress:
            if output is not None:
                stack.enter_context(room_for(output, force=force))
            if replayed is not None:
                outcomes = [_replay(stack, replayed, exporters, against, wanted, each)]
            else:
                if not exporters:
                    raise click.UsageError("nothing to try; expected --exporter NAME|CMD")
                known = read_expected(expected) if expected else []
                from ..harness.conform import conform as try_exporter
                from ..harness.trial import Asked

                chosen = _stage(stage or "database-to-text")
                tried = [_exporter(stack, one, each, chosen) for one in exporters]
                other = _exporter(stack, against, each, chosen) if against else None
                cases = _cases(chosen, scenarios, seed)
                asked = Asked(wanted, other)
                outcomes = [
                    try_exporter(one, chosen, cases, asked, known, output, progress)
                    for one in tried
                ]
        _report(outcomes, format_, targets)
    except (NoExporter, UnreadableExpected, UnreadableCase, ReportError) as problem:
        raise CommandError(str(problem)) from problem
    return int(any(one.fails for one in outcomes))


def _stage(name: str) -> Stage:
    from ..harness.stages import STAGES

    if name not in STAGES:
        raise click.UsageError(unknown("stage", name, STAGES))
    return STAGES[name]


def _exporter(stack: ExitStack, text: str, limits: Limits, stage: Stage) -> Exporter:
    from ..harness.named import exporter_of

    found = exporter_of(text, stage.name, limits, stage.reference)
    stack.callback(found.close)
    return found


def _cases(stage: Stage, count: int, seed: int) -> Sequence[Case]:
    with hypothesis_for("cases"):
        from ..harness.drawing import draw_cases
    return draw_cases(stage, count, seed)


def _replay(
    stack: ExitStack,
    folder: Path,
    exporters: tuple[str, ...],
    against: str | None,
    features: frozenset[str] | None,
    limits: Limits,
) -> Outcome:
    from ..harness.conform import read_saved, replay
    from ..harness.trial import Asked

    if len(exporters) > 1:
        raise click.UsageError("--replay tries one exporter; expected at most one --exporter")
    saved = read_saved(folder)
    stage = _stage(saved.case.stage)
    exporter = _exporter(stack, exporters[0] if exporters else saved.exporter, limits, stage)
    text = against or saved.against
    other = _exporter(stack, text, limits, stage) if text else None
    return replay(saved, exporter, stage, Asked(features or saved.features, other))


def _report(outcomes: Sequence[Outcome], format_: str, targets: Sequence[tuple[str, str]]) -> None:
    from ..harness.conform import report_of
    from ..harness.matrix import as_markdown, as_text

    report, rules = report_of(outcomes), load_rules()
    for kind, path in targets:
        write_report(kind, path, report, rules)
    if format_ in ("summary", "text"):
        click.echo(as_text(outcomes))
    elif format_ == "markdown":
        click.echo(as_markdown(outcomes))
    render_to_stdout(format_, report, rules, sys.stdout, os.environ)
