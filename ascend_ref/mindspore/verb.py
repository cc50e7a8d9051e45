"""``ascend-ref mindspore``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import STAGED, deliverables, output
from ascend_ref.cli.outputs import room_for
from ascend_ref.cli.progress import progress_bar

from .analyse.verb import analyse
from .propose.verb import propose

if TYPE_CHECKING:
    from ascend_spec.mindspore import LineEnd, ParallelMode

FORMS = ("db", "text")


def _forms(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(deliverables(texts, FORMS)) or FORMS


@click.group()
def mindspore() -> None:
    """Read what MindSpore's profiler wrote, of any generation."""


@mindspore.command()
@click.argument("raw", metavar="FOLDER", type=click.Path(path_type=Path))
@output("DIR", STAGED)
@click.option(
    "--generation",
    metavar="GENERATION",
    help="Parse as this generation does, G1 to G3m, or as on a day (2021-12-16); by default found "
    "from the files.",
)
@click.option(
    "--line-end",
    type=click.Choice(["crlf", "lf"]),
    default="crlf",
    show_default=True,
    help="What lines of CSV end with; parsers write crlf.",
)
@click.option(
    "--parallel",
    type=click.Choice(["data-parallel", "model-parallel", "pipeline-parallel"]),
    help="The jobs are those of the ranks of one run, which share its work so: files of all of "
    "them come into DIR itself.",
)
@click.option(
    "--stages",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Of a pipeline, with --parallel.",
)
def parse(
    raw: Path,
    output: Path,
    force: bool,
    generation: str | None,
    line_end: LineEnd,
    parallel: ParallelMode | None,
    stages: int,
) -> int:
    """Write the intermediate files of raw files, as the parsers of their generation do.

    FOLDER is that of a job, or one above; raw files lie in it or in data below it. Of several jobs
    each gets a folder in DIR; those of several ranks share it with --parallel, and have the number
    of the rank that a folder rank_<n> around them has, else of the device. Prints the paths of what
    was written; on stderr the generation, and what of the raw files cannot be read, which stands in
    incomplete.txt as well.

    Exit codes: 0 all written, 1 raw files were damaged, 2 nothing could be written.
    """
    from ascend_ref.raw.damage import Unreadable

    from .parse.parse import parse as parse_raw  # slow: the spec
    from .parse.shares import Shared

    try:
        with room_for(output, force=force), progress_bar(raw.name) as progress:
            shared = None if parallel is None else Shared(parallel, stages)
            done = parse_raw(raw, output, generation, progress, line_end, shared)
    except (Unreadable, KeyError) as problem:
        raise CommandError(str(problem.args[0])) from None
    for one in done:
        written = one.written
        click.echo(f"{one.capture.path}: {written.generation.id}, as on {written.day}", err=True)
        for entry in written.contradicts:
            click.echo(f"{entry.path}: {entry.reason}", err=True)
        for path in one.files:
            click.echo(str(path))
        for line in one.damage:
            click.echo(line, err=True)
    return 1 if any(one.damage for one in done) else 0


@mindspore.command()
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
@output("DIR", STAGED)
@click.option(
    "--as",
    "forms",
    multiple=True,
    callback=_forms,
    metavar="DELIVERABLES",
    help="What to write, of db and text; repeatable or separated by commas. By default both.",
)
@click.option(
    "--generation",
    metavar="GENERATION",
    help="Read as this generation does, or as on a day; by default found from the files.",
)
def convert(
    folder: Path, output: Path, force: bool, forms: tuple[str, ...], generation: str | None
) -> int:
    """Make a profile of the present generation of one of an older generation.

    FOLDER has raw files or, where these are gone, intermediate files; of each device a *_ascend_ms
    is written into DIR. Prints their paths; on stderr what of the old files is not in them, which
    stands in lost.txt, and what cannot be read, which stands in incomplete.txt.

    Exit codes: 0 all converted, 1 files were damaged, 2 nothing could be converted.
    """
    from ascend_ref.raw.damage import Unreadable

    from .convert.convert import convert as convert_folder  # slow: the spec

    try:
        with room_for(output, force=force), progress_bar(folder.name) as progress:
            done = convert_folder(folder, output, forms, generation, progress)
    except (Unreadable, KeyError) as problem:
        raise CommandError(str(problem.args[0])) from None
    for one in done:
        click.echo(str(one.profile))
        for line in one.lost:
            click.echo(f"{one.source}: lost: {line}", err=True)
        for line in one.damage:
            click.echo(line, err=True)
    return 1 if any(one.damage for one in done) else 0


mindspore.add_command(analyse)
mindspore.add_command(propose)
