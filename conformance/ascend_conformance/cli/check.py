"""``ascend-ref check``: judge files and folders."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from ascend_ref.atomic import write_atomically
from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import WORKERS, Known, number
from ascend_ref.cli.progress import Advance, progress_bars
from ascend_ref.execution import NoCluster, open_executor
from ascend_spec import bin_catalog, catalog, text_catalog
from ascend_spec.db.model import CARRIERS, Reading

from ..check import check as check_paths
from ..check import fitting_executor
from ..discover import NothingToCheck
from ..expect import presets
from ..finding import BLOCK_FILE, OF_FILES, TEXT, Report
from ..media import load_rules
from ..options import Options, Target
from ..report import (
    FORMATS,
    Outcome,
    ReportError,
    baseline_document,
    judge,
    read_baseline,
    read_expected,
    render_to_stdout,
    report_schema,
    write_report,
)
from ..ruleset import Selection
from .choose import RulePatterns, patterns

if TYPE_CHECKING:
    from ..expect.model import Expectation

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


STATE = Known(
    "state",
    lambda: {
        **{one.id: Target("revision", one.id) for one in catalog().revisions},
        **{one: Target("writer", one) for one in text_catalog().writers},
        **{one.id: Target("epoch", one.id) for one in bin_catalog().epochs},
    },
    lambda: {one.schema_version: Target("revision", one.id) for one in catalog().revisions},
)
"""A revision, a writer of texts or an epoch of blocks."""


def _usual_form(values: Mapping[str, Any]) -> str:
    """The summary, unless something was asked for that it does not show."""
    examples = values.get("max_examples", Options().max_examples)
    return "text" if values.get("show_sql") or examples != Options().max_examples else SUMMARY


def _print_schema(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        click.echo(json.dumps(report_schema(), indent=2))
        context.exit()


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--reading",
    type=click.Choice(get_args(Reading)),
    default="observed",
    show_default=True,
    help="Where documents and real files disagree: which of them is right.",
)
@click.option(
    "--as",
    "target",
    type=STATE,
    metavar="REVISION",
    help="Judge files as those of this state, whatever they show of themselves: databases of a "
    "revision, or of the newest one of a SCHEMA_VERSION; texts of a writer; blocks of an epoch. A "
    "finding names the changes of the schema that explain it.",
)
@report_format
@report_files
@click.option(
    "--select",
    type=RulePatterns(),
    multiple=True,
    metavar="RULES",
    help="Only these rules: ids, beginnings of ids (DB2) or names, separated by commas.",
)
@click.option(
    "--ignore", type=RulePatterns(), multiple=True, metavar="RULES", help="Leave these rules out."
)
@click.option(
    "--fail-on",
    type=click.Choice([*OF_FILES, NEVER]),
    default="violation",
    show_default=True,
    help="Exit with 1 when a finding is at least this grave.",
)
@click.option(
    "--baseline",
    metavar="FILE",
    help="A JSON report of an earlier run, or a list of fingerprints: these findings are known.",
)
@click.option(
    "--write-baseline",
    metavar="FILE",
    help="Write the fingerprints of all findings to a file, for --baseline in later runs.",
)
@click.option(
    "--expected",
    metavar="FILE",
    help="Lines RULE@PLACE: these findings must come, and no others. * stands for anything.",
)
@click.option(
    "--expect",
    metavar="PRESET|FILE",
    help="What the recording must hold, each lack of it a violation: a preset "
    f"({', '.join(presets())}), or a YAML file.",
)
@number("--max-examples", 0, 100, Options().max_examples, "Bad rows shown per finding.")
@click.option("--show-sql", is_flag=True, help="Add to each finding the query that lists its rows.")
@click.option(
    "--workers",
    type=WORKERS,
    default=Options().workers,
    show_default="one per core, at most 4",
    help="Processes that judge many files, or threads that judge one large file together.",
)
@click.option(
    "--dask",
    metavar="ADDRESS",
    help="Judge many files on the dask.distributed cluster of this scheduler instead; it sees "
    "them under the same paths.",
)
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON Schema of the json report and exit.",
)
def check(
    paths: tuple[str, ...],
    reading: Reading,
    target: Target | None,
    format_: str,
    reports: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fail_on: str,
    baseline: str | None,
    write_baseline: str | None,
    expected: str | None,
    expect: str | None,
    max_examples: int,
    show_sql: bool,
    workers: int,
    dask: str | None,
) -> int:
    """Judge profiles: databases, CSV files, timelines, JSON documents, visualize_data.bin.

    A PATH is such a file, or a folder that is searched for them; the text files of an output folder
    are judged together, and with the database next to them.

    Exit codes: 0 conforms, 1 findings at or above --fail-on, 2 a file could not be judged.
    """
    options = Options(
        expectation=_expectation(expect) if expect else None,
        reading=reading,
        selection=Selection(patterns(select), patterns(ignore)),
        max_examples=max_examples,
        with_sql=show_sql,
        workers=workers,
        target=target,
    )
    targets = [report_target(text) for text in reports]
    try:
        known = read_baseline(baseline) if baseline else frozenset()
        wanted = read_expected(expected) if expected else ()
        with progress_bars() as begin, ExitStack() as stack:
            executor = (
                stack.enter_context(open_executor(dask=dask))
                if dask
                else fitting_executor(paths, options)
            )
            progress = begin and partial(_of_file, begin)
            report = check_paths(paths, options, progress, executor)
        if target is not None:
            _require_any(report, target)
        outcome = judge(report, known, wanted)
        if write_baseline:
            write_atomically(Path(write_baseline), baseline_document(report))
        known_rules = load_rules()
        for kind, path in targets:
            write_report(kind, path, outcome.report, known_rules)
        render_to_stdout(format_, outcome.report, known_rules, sys.stdout, os.environ)
    except (NoCluster, NothingToCheck, ReportError) as error:
        raise CommandError(str(error)) from error
    for line in outcome.remarks():
        click.echo(line, err=True)
    return exit_code(report, outcome, fail_on, shown=format_ in (SUMMARY, "text") and _one_place())


HAVE: Mapping[str, tuple[tuple[str, ...], str]] = {
    "revision": (CARRIERS, "a revision, which databases have"),
    "writer": ((TEXT,), "a writer, whom CSV files, timelines and documents have"),
    "epoch": ((BLOCK_FILE,), "an epoch, which files of blocks have"),
}
"""By axis the carriers (:class:`.Seen`) of what has a state of it, in codes and in words."""


def _require_any(report: Report, target: Target) -> None:
    """Refuse a target that none of the files can be judged by."""
    carriers = {one.seen.carrier for one in report.files if one.seen}
    known, words = HAVE[target.axis]
    if carriers and carriers.isdisjoint(known):
        raise CommandError(f"--as: {target.name} is {words}; expected such a file")


def _expectation(text: str) -> Expectation:
    """A preset, or the document in a file."""
    from ascend_simulator.documents import ScenarioError  # slow: msgspec

    from ..expect.model import read_expectation

    try:
        return read_expectation(text)
    except OSError as error:
        raise CommandError(f"{text}: {error.strerror}; expected a YAML file or a preset") from error
    except ScenarioError as error:
        raise CommandError(str(error)) from error


def _of_file(begin: Callable[[str], Advance], path: Path) -> Advance:
    """A progress bar for a file."""
    advance = begin(path.name)
    return lambda done, total, what: advance(done, total, f"{path.name} {what}")


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
