"""``ascend-ref probe``: judge a server of the MindStudio Insight API."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from ascend_ref.bin import Unreadable
from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import separated
from ascend_ref.cli.progress import progress_bar
from ascend_ref.cli.suggest import unknown
from ascend_spec import api_catalog

from ..report import render_to_stdout
from .reporting import report_format


@click.command()
@click.argument("address", metavar="ws://HOST:PORT[/PATH]")
@click.option(
    "--file",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="A visualize_data.bin that the server can open, too.",
)
@click.option(
    "--server-path",
    metavar="PATH",
    help="What the server calls FILE.  [default: its absolute path]",
)
@click.option(
    "--commands",
    multiple=True,
    metavar="NAMES",
    help="Only these commands: names or patterns (source/details/*), separated by commas. "
    "import/action is always sent.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 3600),
    default=10.0,
    show_default=True,
    help="Seconds that an answer may take.",
)
@report_format
def probe(
    address: str,
    file: Path,
    server_path: str | None,
    commands: tuple[str, ...],
    timeout: float,
    format_: str,
) -> int:
    """Ask a server of the MindStudio Insight API about FILE, and judge each answer.

    The server imports FILE into a project of its own; nothing else of it is touched. Exit codes:
    0 conforms, 1 violations, 2 no such file or no server.
    """
    from ..media import load_rules
    from ..media.api.client import CannotConnect
    from ..media.api.options import ProbeOptions, fits_none  # slow: numpy, jsonschema-rs
    from ..media.api.run import probe as probe_server

    patterns = tuple(separated(commands))
    for pattern in fits_none(patterns):
        raise click.UsageError(unknown("command", pattern, api_catalog().commands))
    options = ProbeOptions(patterns, server_path, timeout)
    try:
        with progress_bar("connecting") as progress:
            report = probe_server(address, file, options, progress)
    except (CannotConnect, Unreadable) as problem:
        raise CommandError(str(problem)) from problem
    render_to_stdout(format_, report, load_rules(), sys.stdout, os.environ)
    return int(any(finding.verdict == "violation" for finding in report.findings))
