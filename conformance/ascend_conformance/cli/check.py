"""``ascend-ref check``: judge files and folders."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import WORKERS, number
from ascend_ref.cli.progress import Advance, progress_bars
from ascend_ref.execution import NoCluster, open_executor
from ascend_ref.states import Target
from ascend_ref.states.asked import STATE
from ascend_spec.db.model import Reading

from ..check import check as check_paths
from ..check import fitting_executor
from ..discover import NothingToCheck
from ..expect import presets
from ..media import load_rules
from ..options import Options
from ..report import report_schema
from ..ruleset import Selection
from .choose import patterns, selecting
from .reporting import Judging, judged
from .target import require_any

if TYPE_CHECKING:
    from ..expect.model import Expectation


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
@judged
@selecting("rules", "DB2")
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
    judging: Judging,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
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
    try:
        with progress_bars() as begin, ExitStack() as stack:
            executor = (
                stack.enter_context(open_executor(dask=dask))
                if dask
                else fitting_executor(paths, options)
            )
            progress = begin and partial(_of_file, begin)
            report = check_paths(paths, options, progress, executor)
    except (NoCluster, NothingToCheck) as error:
        raise CommandError(str(error)) from error
    if target is not None:
        require_any(report, target)
    return judging.answer(report, load_rules())


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
