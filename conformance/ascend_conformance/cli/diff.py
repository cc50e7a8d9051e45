"""``ascend-ref diff``: what differs between two of a kind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import number
from ascend_ref.cli.progress import progress_bar

from ..options import Options
from ..ruleset import Rule, Selection
from .choose import patterns, selecting
from .reporting import Judging, judged


def change_rules() -> Mapping[str, Rule[Any]]:
    """The rules of changes by id."""
    from ..schema.findings import reported_rules  # slow: msgspec

    return reported_rules()


class StateName(click.ParamType[str]):
    """A state of a spec, by its name, as a draft or as the folder of a working copy."""

    name = "state"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The states that begin so, and files and folders."""
        from ascend_ref.states import AXES, names_of
        from ascend_spec import current

        known = [name for axis in AXES for name in names_of(current(), axis)]
        found = [CompletionItem(one) for one in known if one.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]


def difference_rules() -> Mapping[str, Rule[Any]]:
    """The rules of two profiles that are compared, by id."""
    from ..difference.stating import difference_rules as known  # slow: msgspec

    return known()


class _PairOrCommand(click.Group):
    """A command of its own, unless its first word is one of the commands below it."""

    allow_extra_args = False
    allow_interspersed_args = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] in self.commands:
            ctx.args = list(args)
            return ctx.args
        return click.Command.parse_args(self, ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        if not ctx.args:
            return click.Command.invoke(self, ctx)
        name, command, args = self.resolve_command(ctx, ctx.args)
        if command is None:
            raise ValueError(f"{name} is none of {', '.join(self.commands)}")
        with command.make_context(name, args, parent=ctx) as below:
            return command.invoke(below)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return click.Command.collect_usage_pieces(self, ctx)


@click.group(cls=_PairOrCommand, no_args_is_help=False)
@click.argument("left", type=click.Path(exists=True, path_type=Path), metavar="A")
@click.argument("right", type=click.Path(exists=True, path_type=Path), metavar="B")
@judged
@selecting("rules of differences", "DIF3", difference_rules)
@number("--max-examples", 0, 100, Options().max_examples, "Rows shown per difference.")
def diff(
    left: Path,
    right: Path,
    judging: Judging,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    max_examples: int,
) -> int:
    """Show what differs between two profiles A and B, or, as diff spec, two states of the formats.

    A and B are files of any media, or folders that are searched as by check; of several recordings
    those of the same rank belong together. They are compared by meaning: texts, not their numbers;
    rows, not their order; what leads to a row by that row. Columns go by every name that they ever
    had. A database against texts or a timeline is compared in what both show of the recording, raw
    files against either in what export makes of them. What is not compared is stated, with its
    reason, by -v.

    A profile in a folder called spec is given as ./spec.

    Exit codes: 0 the same, 1 they differ, 2 they cannot be compared.
    """
    from ..difference.diff import diff as compare  # slow: duckdb, pyarrow
    from ..discover import NothingToCheck

    chosen = Options(
        selection=Selection(patterns(select, difference_rules), patterns(ignore, difference_rules)),
        max_examples=max_examples,
    )
    try:
        with progress_bar("comparing") as advance:
            report = compare(left, right, chosen, advance)
    except NothingToCheck as error:
        raise CommandError(str(error)) from error
    return judging.answer(report, difference_rules())


@diff.command()
@click.argument("old", type=StateName(), metavar="A")
@click.argument("new", type=StateName(), metavar="B")
@judged
@selecting("rules of changes", "CHG1", change_rules)
@click.option(
    "--consumers",
    is_flag=True,
    help="Only what hurts a reader whose contract is known (spec list readers), each with the "
    "readers and their parts.",
)
def spec(
    old: str,
    new: str,
    judging: Judging,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    consumers: bool,
) -> int:
    """Show what changed from state A of the formats to state B, and whom it breaks.

    A state is a revision of the databases or a day (1.2.0-2026-07, 2026-06-17), a writer of texts
    (cpp-2025, or cpp@2026-06-23 on a day), an epoch of visualize_data.bin (E2), a generation of the
    API (upstream) or of MindSpore's profiler (G3), or a working copy of the spec: DIR, which is its
    newest state, or DIR@STATE. Each change has a rule that names it
    (ascend-ref explain CHG134), and is a violation if it breaks somebody, advice if SCHEMA_VERSION
    admits that, a note if it breaks nobody.

    Exit codes: 0 nothing breaks unannounced, 1 findings at or above --fail-on, 2 no such states.
    """
    from ascend_ref.states import find_state

    from ..schema.findings import report_between

    selection = Selection(patterns(select, change_rules), patterns(ignore, change_rules))
    try:
        states = find_state(old), find_state(new)
        report = report_between(*states, selection, of_readers=consumers)
    except ValueError as error:  # SpecError and StateError are
        raise CommandError(str(error)) from error
    return judging.answer(report, change_rules())
