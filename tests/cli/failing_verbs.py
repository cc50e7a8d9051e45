"""Verbs that end in every way there is; registered by the tests in place of the real ones."""

from __future__ import annotations

import click


class UnluckyError(Exception):
    """An error of ours, as far as the shell can tell."""


UnluckyError.__module__ = "ascend_ref.tests"


@click.command()
def crash() -> None:
    """Meet a bug."""
    raise KeyError("lost")


@click.command()
def refuse() -> None:
    """Refuse with an error of ours."""
    raise UnluckyError("the file\nis \x1b[31mbad")


@click.command()
def stop() -> None:
    """Be interrupted."""
    raise KeyboardInterrupt


@click.command()
def missing() -> None:
    """Open a file that is not there."""
    open("/nonexistent/profile.db").close()


@click.command()
@click.argument("code", type=int)
@click.pass_context
def leave(context: click.Context, code: int) -> None:
    """Leave through click with a code."""
    context.exit(code)


@click.command()
@click.argument("code", type=int)
def answer(code: int) -> int:
    """Return a code."""
    return code


@click.command()
def quit_() -> None:
    """Leave through the interpreter with a text."""
    raise SystemExit("told to quit")


@click.command()
def recurse() -> None:
    """Fall without end."""
    recurse.callback()  # type: ignore[misc]


@click.command()
def complain() -> None:
    """Complain about the command line."""
    raise click.UsageError("two things at once")
