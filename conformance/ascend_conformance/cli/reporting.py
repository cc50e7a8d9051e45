"""What the verbs that report findings have in common: the options, and what follows from them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce, wraps
from pathlib import Path
from typing import Any

import click

from ascend_ref.atomic import write_atomically
from ascend_ref.cli.guard import CommandError

from ..finding import OF_FILES, Report
from ..options import Options
from ..report import (
    FORMATS,
    Outcome,
    ReportError,
    baseline_document,
    judge,
    read_baseline,
    read_expected,
    render_to_stdout,
    write_report,
)
from ..ruleset import Rule

NEVER = "never"
SUMMARY = "summary"

_SHORT_FORMS = {
    "text": ("-v", "--verbose", "All that was seen and found, file by file: --format text."),
    "quiet": ("-q", "--quiet", "The conclusion alone: --format quiet."),
    "statistics": ("--statistics", "A line for each rule: --format statistics."),
}


def report_format(command: Callable[..., int]) -> Callable[..., int]:
    """The options for the form of the report on standard output, as ``format_``."""

    @wraps(command)
    def with_form(**values: Any) -> int:
        short = [form for form in _SHORT_FORMS if values.pop(form)]
        if len(short) + (values["format_"] is not None) > 1:
            raise click.UsageError("--format, -v, -q and --statistics exclude each other; give one")
        values["format_"] = short[0] if short else values["format_"] or _usual_form(values)
        return command(**values)

    for form, (*names, words) in reversed(_SHORT_FORMS.items()):
        with_form = click.option(*names, form, is_flag=True, help=words)(with_form)
    return click.option(
        "--format",
        "format_",
        type=click.Choice(list(FORMATS)),
        help=f"Form of the report on standard output.  [default: {SUMMARY}]",
    )(with_form)


report_files = click.option(
    "--report",
    "reports",
    multiple=True,
    metavar="KIND=FILE",
    help=f"Also write a report to a file; KIND is one of {', '.join(FORMATS)}. Repeatable.",
)


def _usual_form(values: Mapping[str, Any]) -> str:
    """The summary, unless something was asked for that it does not show."""
    examples = values.get("max_examples", Options().max_examples)
    return "text" if values.get("show_sql") or examples != Options().max_examples else SUMMARY


@dataclass(frozen=True, slots=True)
class Judging:
    """What is asked of the findings: which are known or must come, which count, where they go."""

    format: str
    reports: tuple[tuple[str, str], ...]
    fail_on: str
    write_baseline: str | None
    baseline: frozenset[str]
    expected: tuple[str, ...]

    def answer(self, report: Report, rules: Mapping[str, Rule[Any]]) -> int:
        """Judges a report, writes it in all its forms, and returns the exit code.

        Raises ``ReportError`` for what cannot be written.
        """
        outcome = judge(report, self.baseline, self.expected)
        if self.write_baseline:
            write_atomically(Path(self.write_baseline), baseline_document(report))
        for kind, path in self.reports:
            write_report(kind, path, outcome.report, rules)
        render_to_stdout(self.format, outcome.report, rules, sys.stdout, os.environ)
        for line in outcome.remarks():
            click.echo(line, err=True)
        shown = self.format in (SUMMARY, "text") and _one_place()
        return exit_code(report, outcome, self.fail_on, shown=shown)


def judged(command: Callable[..., int]) -> Callable[..., int]:
    """The options on the findings of a report, which come as one ``judging``."""
    options = (
        report_format,
        report_files,
        click.option(
            "--fail-on",
            type=click.Choice([*OF_FILES, NEVER]),
            default="violation",
            show_default=True,
            help="Exit with 1 when a finding is at least this grave.",
        ),
        click.option(
            "--baseline",
            metavar="FILE",
            help="A JSON report of an earlier run, or a list of fingerprints: these findings are "
            "known.",
        ),
        click.option(
            "--write-baseline",
            metavar="FILE",
            help="Write the fingerprints of all findings to a file, for --baseline in later runs.",
        ),
        click.option(
            "--expected",
            metavar="FILE",
            help="Lines RULE@PLACE: these findings must come, and no others. * stands for "
            "anything.",
        ),
    )

    @wraps(command)
    def with_judging(
        format_: str,
        reports: tuple[str, ...],
        fail_on: str,
        baseline: str | None,
        write_baseline: str | None,
        expected: str | None,
        **given: Any,
    ) -> int:
        targets = tuple(map(report_target, reports))
        try:
            known = read_baseline(baseline) if baseline else frozenset[str]()
            wanted = read_expected(expected) if expected else ()
            judging = Judging(format_, targets, fail_on, write_baseline, known, wanted)
            return command(judging=judging, **given)
        except ReportError as error:
            raise CommandError(str(error)) from error

    return reduce(lambda made, option: option(made), reversed(options), with_judging)


def exit_code(report: Report, outcome: Outcome, fail_on: str, *, shown: bool = False) -> int:
    """2 when something could not be judged (stderr says what, unless it was shown there already),
    else 1 or 0 by ``--fail-on``.
    """
    reasons = [file.unreadable for file in report.files if file.unreadable]
    reasons += [f"{one.file}: {one.message}" for one in report.findings if one.verdict == "failure"]
    for reason in () if shown else reasons:
        click.echo(f"ascend-ref: error: {reason}", err=True)
    if reasons:
        return 2
    if fail_on == NEVER:
        return 0
    grave = next(verdict for verdict in OF_FILES if verdict == fail_on)
    return int(outcome.fails(grave))


def _one_place() -> bool:
    """Whether output and errors go to the same terminal or file."""
    try:
        return os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())
    except (OSError, ValueError):  # no file behind one of them
        return False


def report_target(text: str) -> tuple[str, str]:
    """Kind and path of ``KIND=FILE``. Raises ``click.UsageError``."""
    kind, equals, path = text.partition("=")
    if not equals or not path or kind not in FORMATS:
        raise click.UsageError(
            f"--report is {text!r}; expected KIND=FILE with KIND one of {', '.join(FORMATS)}"
        )
    return kind, path
