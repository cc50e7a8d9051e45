"""The click group: verbs found by entry point, click's errors turned into one line each."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import click
from click.shell_completion import shell_complete

from ascend_ref.execution.interrupts import interrupts_held

from . import PROGRAM, VERSION
from .guard import CommandError
from .suggest import unknown

VERBS = "ascend_ref.verbs"
COMPLETION = "_ASCEND_REF_COMPLETE"


SPEC_VERBS = "ascend_ref.spec_verbs"
"""Entry points: verbs below ``spec`` of other packages."""


EXPORTS_FOR = "ascend_ref.export_for"
"""Entry points: what ``export --for`` calls."""


@cache
def installed_verbs() -> Mapping[str, EntryPoint]:
    """The verbs that installed packages register, by name; none of them is loaded."""
    return {entry.name: entry for entry in entry_points(group=VERBS)}


@cache
def installed_spec_verbs() -> Mapping[str, EntryPoint]:
    """The same, below ``spec``."""
    return {entry.name: entry for entry in entry_points(group=SPEC_VERBS)}


class Shell(click.Group):
    """A group whose commands are entry points, each loaded when it is asked for, and its own."""

    def registered(self) -> Mapping[str, EntryPoint]:
        """The entry points by name."""
        return installed_verbs()

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs' names, without loading any of them."""
        return sorted({*self.registered(), *self.commands})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb, or a stand-in that says why it cannot be loaded."""
        entry = self.registered().get(cmd_name)
        if entry is None:
            return super().get_command(ctx, cmd_name)
        try:
            with interrupts_held():
                command: click.Command = entry.load()
        except Exception as error:
            return _unavailable(cmd_name, error)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs, each with the first sentence of its help, however long it is."""
        verbs = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, verb.get_short_help_str(limit=1000)) for name, verb in verbs if verb]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb named by the first argument."""
        known = self.list_commands(ctx)
        if not args[0].startswith("-") and args[0] not in known:
            raise click.UsageError(unknown("verb", args[0], known), ctx)
        return super().resolve_command(ctx, args)


class SpecVerbs(Shell):
    """The verbs below ``spec``."""

    def registered(self) -> Mapping[str, EntryPoint]:
        """The entry points by name."""
        return installed_spec_verbs()


def _unavailable(name: str, error: Exception) -> click.Command:
    reason = f"{type(error).__name__}: {error}"

    def fail(**_: object) -> None:
        raise click.ClickException(f"the verb {name} cannot be loaded: {reason}") from error

    return click.Command(
        name,
        callback=fail,
        short_help=f"(cannot be loaded: {reason})",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(VERSION)
        ctx.exit()


@click.group(
    cls=Shell, no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version and exit.",
)
@click.option(
    "--spec",
    "path",
    type=click.Path(exists=True, path_type=Path),
    metavar="DRAFT|FOLDER",
    help="Use the packaged spec with this draft laid over it (a file or a folder of what is new or "
    "different), or a working copy of the whole spec.",
)
@click.pass_context
def shell(context: click.Context, path: Path | None) -> None:
    """Judge Ascend NPU profiles, and look up what their formats are.

    Exit codes: 0 nothing to report, 1 findings, 2 could not judge.
    """
    if path is not None:
        from ascend_spec import load_spec, using

        context.with_resource(using(load_spec(path)))


def run(words: Sequence[str]) -> int:
    """Run one command line; a verb answers with an exit code or with ``None`` for 0.

    Raises :class:`CommandError` for a wrong command line and for what a verb refuses to do.
    """
    instruction = os.environ.get(COMPLETION)
    if instruction:
        return shell_complete(shell, {}, PROGRAM, COMPLETION, instruction)
    # Not shell.main(): that one turns ^C and a closed pipe into exit code 1.
    try:
        with shell.make_context(PROGRAM, list(words)) as context:
            answer: Any = shell.invoke(context)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else PROGRAM
        text = error.format_message().rstrip(".")
        raise CommandError(f"{text} (see {path} --help)") from error
    except click.ClickException as error:
        raise CommandError(error.format_message()) from error
    return answer if isinstance(answer, int) else 0
