"""``ascend-ref serve``: the reference server of the MindStudio Insight API."""

from __future__ import annotations

import asyncio
import re
import signal
from contextlib import ExitStack
from pathlib import Path

import click

from ascend_ref.cli.guard import CommandError, Terminated

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
@click.argument("file", type=click.Path(path_type=Path))
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
    file: Path,
    *,
    baseline: Path | None,
    host: str,
    port: int,
    origins: tuple[str, ...],
    allow_remote: bool,
    once: bool,
) -> int:
    """Answer a viewer's requests about FILE, a visualize_data.bin, over WebSocket.

    Prints the address when it can be used, and then serves one client at a time until it is
    interrupted. A client imports FILE by its path or its name; no other file is ever looked at.
    """
    from ascend_ref.bin import Unreadable  # slow: numpy

    from .answers import open_answers
    from .server import CannotListen, Endpoint, is_loopback
    from .server import serve as answer_clients
    from .session import Session

    if not (allow_remote or is_loopback(host)):
        raise click.UsageError(
            f"other machines may reach {host}; add --allow-remote if that is wanted"
        )
    with ExitStack() as files:
        try:
            served = files.enter_context(open_answers(file))
            base = files.enter_context(open_answers(baseline)) if baseline else None
        except Unreadable as problem:
            raise CommandError(str(problem)) from problem
        endpoint = Endpoint(host, port, origins)
        try:
            ended = asyncio.run(
                answer_clients(Session(served, base), endpoint, click.echo, once=once)
            )
        except CannotListen as problem:
            raise CommandError(f"cannot listen at {host}, port {port}: {problem}") from problem
    if ended is signal.SIGTERM:
        raise Terminated
    if ended is signal.SIGINT:
        raise KeyboardInterrupt
    return 0
