"""``ascend-ref who-reads``: what each reader of a profile will show, drop or misread."""

from __future__ import annotations

import json
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.progress import progress_bar

from .reporting import report_files, report_target


class _ReaderName(click.ParamType[str]):
    """A reader, or one of its versions behind ``@``."""

    name = "reader"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from ascend_spec import consumer_catalog

        return [
            CompletionItem(name)
            for name in consumer_catalog().readers
            if name.startswith(incomplete)
        ]


@click.command(name="who-reads")
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="PROFILE...",
)
@click.option(
    "--reader",
    "readers",
    multiple=True,
    type=_ReaderName(),
    metavar="NAME[@VERSION][/PART]",
    help="This reader only, such as perfetto@56.1 or msprof-analyze/hccl_sum; repeatable. By "
    "default all.",
)
@click.option("-v", "--verbose", is_flag=True, help="Why, where and what to do.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@report_files
def who_reads(
    paths: tuple[Path, ...],
    readers: tuple[str, ...],
    verbose: bool,
    as_json: bool,
    reports: tuple[str, ...],
) -> int:
    """State what each reader of a PROFILE will show of it, drop or misread, with counts.

    A PROFILE is a file, or a folder that is searched as by check. What readers do is written down
    with its sources: spec list readers.

    Exit codes: 0 nothing is lost, 1 a reader fails, drops or misreads something.
    """
    from ..consumers.asking import who_reads as ask
    from ..consumers.choosing import NoSuchReader
    from ..consumers.showing import document, lines, report
    from ..discover import NothingToCheck
    from ..report import ReportError, write_report

    targets = [report_target(text) for text in reports]
    try:
        with progress_bar("reading") as advance:
            answers = ask(paths, readers, advance)
        for kind, path in targets:
            write_report(kind, path, report(answers), {})
    except (NothingToCheck, NoSuchReader, ReportError) as error:
        raise CommandError(str(error)) from error
    if as_json:
        click.echo(json.dumps(document(answers), indent=2))
    else:
        for line in lines(answers, details=verbose):
            click.echo(line)
    return int(any(answer.loses for answer in answers))
