"""What the verbs that try programs of others have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import AnyVerb, number


def limits(seconds: float, of: str, who: str) -> Callable[[AnyVerb], AnyVerb]:
    """The options ``--timeout``, with its default and what it is of, and ``--memory`` of whom."""

    def add(verb: AnyVerb) -> AnyVerb:
        verb = number("--memory", 64, 1 << 20, 4096, f"MB of address space that {who} may have.")(
            verb
        )
        return click.option(
            "--timeout",
            type=click.FloatRange(0.1, 86_400),
            default=seconds,
            show_default=True,
            help=f"Seconds that one {of} may take.",
        )(verb)

    return add


@contextmanager
def hypothesis_for(what: str) -> Iterator[None]:
    """Where it is imported: its absence is one line."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name != "hypothesis":
            raise
        raise CommandError(
            f"{what} are drawn by hypothesis; expected: pip install 'ascend-ref[strategies]'"
        ) from missing
