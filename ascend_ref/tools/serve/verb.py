"""``ascend-ref serve``: the reference servers of MindStudio Insight and of MindSpore's viewer."""

from __future__ import annotations

import asyncio
import re
import signal
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ascend_ref.cli.guard import CommandError, Terminated

if TYPE_CHECKING:
    from .listening import Endpoint

DEFAULT_PORT = 9000  # of the documents' examples

ORIGIN = re.compile(r"null|file://|[a-z][a-z0-9+.-]*://[^\sA-Z/?#]+")
"""How browsers spell where a page is from (RFC 6454), for files in two ways."""


def _origins(
    _context: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> tuple[str, ...]:
    for text in texts:
        if not ORIGIN.fullmatch(text):
            expected = "expected one as https://viewer.example:8443, in lower case, without a path"
            raise click.BadParameter(f"no page has the origin {text!r}; {expected}")
    return texts


@click.command()
@click.argument("path", metavar="FILE|DIR", type=click.Path(path_type=Path))
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A second file, which a client may take to compare with.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    help="Port to listen at; 0 chooses a free one.",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    callback=_origins,
    metavar="ORIGIN",
    help="A web page that may connect, as https://host:port; pages of this machine always may.",
)
@click.option(
    "--allow-remote", is_flag=True, help="Listen also where other machines reach the address."
)
@click.option("--once", is_flag=True, help="End when the first client leaves.")
def serve(
    path: Path,
    *,
    baseline: Path | None,
    host: str,
    port: int,
    origins: tuple[str, ...],
    allow_remote: bool,
    once: bool,
) -> int:
    """Answer a viewer's requests about FILE over WebSocket, or about DIR over HTTP.

    FILE is a visualize_data.bin. One client at a time is served; it imports FILE by its path or its
    name, and no other file is ever looked at.

    DIR holds intermediate files of MindSpore's profiler, or folders that do. Requests are those of
    MindInsight; /openapi.json describes them. Nothing out of DIR is ever read.

    Prints the address when it can be used, and then answers until it is interrupted.
    """
    from .listening import CannotListen, Endpoint, is_loopback

    if not (allow_remote or is_loopback(host)):
        raise click.UsageError(
            f"other machines may reach {host}; add --allow-remote if that is wanted"
        )
    if path.is_dir() and (baseline is not None or once):
        raise click.UsageError("--baseline and --once are for a FILE, not for a folder")
    endpoint = Endpoint(host, port, origins)
    try:
        if path.is_dir():
            ended = _serve_folder(path, endpoint)
        else:
            ended = _serve_file(path, endpoint, baseline, once=once)
    except CannotListen as problem:
        raise CommandError(f"cannot listen at {host}, port {port}: {problem}") from problem
    if ended is signal.SIGTERM:
        raise Terminated
    if ended is signal.SIGINT:
        raise KeyboardInterrupt
    return 0


def _serve_file(
    file: Path, endpoint: Endpoint, baseline: Path | None, *, once: bool
) -> signal.Signals | None:
    from ascend_ref.bin import Unreadable  # slow: numpy

    from .answers import open_answers
    from .server import serve as answer_clients
    from .session import Session

    with ExitStack() as files:
        try:
            served = files.enter_context(open_answers(file))
            base = files.enter_context(open_answers(baseline)) if baseline else None
        except Unreadable as problem:
            raise CommandError(str(problem)) from problem
        return asyncio.run(answer_clients(Session(served, base), endpoint, click.echo, once=once))


def _serve_folder(folder: Path, endpoint: Endpoint) -> signal.Signals | None:
    from ascend_ref.raw.damage import Unreadable

    try:
        from .rest.app import serve_folder
    except ModuleNotFoundError as error:
        raise CommandError(
            f"{error.name} is not installed; expected the extra: pip install 'ascend-ref[serve]'"
        ) from error
    try:
        return asyncio.run(serve_folder(folder, endpoint, click.echo))
    except Unreadable as problem:
        raise CommandError(str(problem)) from problem
