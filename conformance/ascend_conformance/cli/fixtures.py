"""``ascend-ref fixtures``: the regression corpus, built, listed and verified."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ascend_ref.atomic import write_atomically
from ascend_ref.cli.console import print_columns
from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import WORKERS, output, separated
from ascend_ref.cli.outputs import refuse_existing, room_for
from ascend_ref.cli.progress import progress_bar
from ascend_ref.execution import open_executor

if TYPE_CHECKING:
    from ..fixtures.golden import Golden
    from ..fixtures.plan import Fixture

AXES = (
    *("family", "carrier", "revision", "level", "product", "preset", "writer", "generation"),
    *("deliverable", "chip", "mode", "epoch"),
)
"""What fixtures are chosen by."""
MOST_WORKERS = 4


def choice(command: Callable[..., int]) -> Callable[..., int]:
    """The names of fixtures and an option for each axis, as ``chosen``."""

    @wraps(command)
    def with_choice(**values: Any) -> int:
        wanted = {axis: separated(values.pop(f"axis_{axis}")) for axis in AXES}
        return command(chosen=_Choice(values.pop("names"), wanted), **values)

    found: Callable[..., int] = with_choice
    for axis in reversed(AXES):
        found = click.option(
            f"--{axis}",
            f"axis_{axis}",
            multiple=True,
            metavar=axis.upper(),
            help="Only fixtures of it; repeatable or separated by commas.",
        )(found)
    return found


class _Choice:
    """Fixtures by names and by values on axes."""

    def __init__(self, names: tuple[str, ...], wanted: Mapping[str, list[str]]) -> None:
        self._names, self._wanted = names, wanted

    @property
    def is_everything(self) -> bool:
        """Whether nothing was asked for."""
        return not self._names and not any(self._wanted.values())

    def fixtures(self) -> list[Fixture]:
        """The fixtures themselves. Raises ``CommandError``."""
        from ..fixtures.plan import NoFixture, choose  # slow: numpy

        try:
            return choose(self._names, self._wanted)
        except NoFixture as error:
            raise CommandError(str(error)) from None


names = click.argument("names", nargs=-1, metavar="[FIXTURE]...")


@click.group()
def fixtures() -> None:
    """Small profiles over all axes of the formats, to test with.

    Every pair of values of two axes that is possible occurs in a fixture: each carrier with each
    revision, each product with each preset, and so on.
    """


@fixtures.command("list")
@names
@choice
@click.option("--axes", "of_axes", is_flag=True, help="List the axes with their values instead.")
@click.option("--commands", is_flag=True, help="Print the commands that make each fixture.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of manifest.json.")
def list_(chosen: _Choice, of_axes: bool, commands: bool, as_json: bool, schema: bool) -> int:
    """List the fixtures, all or those of these names and values."""
    if of_axes + commands + schema > 1:
        raise click.UsageError("--axes, --commands and --schema exclude each other")
    if schema:
        from ..fixtures.manifest import manifest_schema

        click.echo(json.dumps(manifest_schema(), indent=2))
    elif of_axes:
        _list_axes(as_json)
    else:
        _list(chosen.fixtures(), commands=commands, as_json=as_json)
    return 0


def _list_axes(as_json: bool) -> None:
    from ..fixtures.families import families
    from ..fixtures.plan import axes

    known = {"family": list(families()), **axes()}
    if as_json:
        rows = [{"axis": axis, "values": known[axis]} for axis in AXES]
        click.echo(json.dumps(rows, indent=2))
    else:
        print_columns(("axis", "values"), [(axis, " ".join(known[axis])) for axis in AXES])


def _list(found: list[Fixture], *, commands: bool, as_json: bool) -> None:
    from ..fixtures.steps import commands as lines

    if as_json:
        rows = [
            {
                "name": one.name,
                "family": one.family,
                "axes": dict(one.axes),
                "seed": one.seed,
                "commands": lines(one.made.steps),
            }
            for one in found
        ]
        click.echo(json.dumps(rows, indent=2))
    elif commands:
        for one in found:
            for line in lines(one.made.steps):
                click.echo(f"{one.name}: {line}")
    else:
        for one in found:
            click.echo(one.name)


@fixtures.command()
@names
@choice
@output("DIR")
@click.option(
    "--write-golden",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Also write the hashes of all fixtures to a file, for verify --golden.",
)
@click.option(
    "--workers",
    type=WORKERS,
    default=min(os.cpu_count() or 1, MOST_WORKERS),
    show_default=f"one per core, at most {MOST_WORKERS}",
    help="Processes that build fixtures.",
)
def build(
    chosen: _Choice, output: Path, force: bool, write_golden: Path | None, workers: int
) -> int:
    """Build the fixtures, all or those of these names and values, each in a folder of its name.

    manifest.json lists them with their axes, seeds, commands, files and hashes. The same version
    builds the same bytes, whatever the number of workers.
    """
    if write_golden is not None and not chosen.is_everything:
        raise click.UsageError("--write-golden is for all fixtures, these are some")
    if write_golden is not None:
        refuse_existing(write_golden, force=force)
    wanted = chosen.fixtures()
    from ..fixtures.build import build as build_fixtures  # slow: numpy, pyarrow

    with (
        room_for(output, force=force),
        open_executor(min(workers, len(wanted))) as executor,
        progress_bar("building") as progress,
    ):
        entries = build_fixtures(wanted, output.absolute(), executor, progress)
    if write_golden is not None:
        from ..fixtures.golden import golden_of, golden_text

        write_atomically(write_golden, golden_text(golden_of(entries)))
    size = sum(file.size for one in entries for file in one.files)
    what = f"{len(entries):,} fixture{'' if len(entries) == 1 else 's'}"
    click.echo(f"{output}: {what}, {size / 1e6:,.1f} MB")
    return 0


@fixtures.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@names
@choice
@click.option(
    "--golden",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Hashes that build --write-golden wrote, not those of this version.",
)
@click.option("--without-check", is_flag=True, help="Do not check them, which takes longest.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--workers",
    type=WORKERS,
    default=min(os.cpu_count() or 1, MOST_WORKERS),
    show_default=f"one per core, at most {MOST_WORKERS}",
    help="Processes that verify fixtures.",
)
def verify(
    folder: Path,
    chosen: _Choice,
    golden: Path | None,
    without_check: bool,
    as_json: bool,
    workers: int,
) -> int:
    """Compare the fixtures in DIR with what this version builds and with the golden hashes.

    Of each that is not the same: its file, and the table, column, row or value in it. Each is
    checked as well, and what can be read and written again comes back the same.

    Exit codes: 0 all the same, 1 differences, 2 no fixtures in DIR.
    """
    from ..fixtures.manifest import NoManifest  # slow: numpy
    from ..fixtures.verify import verify as verify_fixtures

    wanted = [] if chosen.is_everything else [one.name for one in chosen.fixtures()]
    try:
        with open_executor(workers) as executor, progress_bar("verifying") as progress:
            verified = verify_fixtures(
                folder,
                wanted,
                _golden(golden),
                executor,
                progress,
                checked=not without_check,
            )
    except NoManifest as error:
        raise CommandError(str(error)) from None
    if as_json:
        rows = [
            {"fixture": one.fixture, "what": one.what, "file": one.file, "words": one.words}
            for one in verified.problems
        ]
        click.echo(json.dumps(rows, indent=2))
    else:
        for one in verified.problems:
            click.echo(str(one))
        click.echo(verified.conclusion)
    return int(bool(verified.problems))


def _golden(path: Path | None) -> Golden:
    from ..fixtures.golden import NoGolden, packaged_golden, read_golden

    try:
        return packaged_golden() if path is None else read_golden(path)
    except NoGolden as error:
        raise CommandError(str(error)) from None


@fixtures.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def matrix(as_json: bool) -> int:
    """Show what is done with each state of each format, and why not what is not."""
    from ..fixtures.support import cells, operations, reasons, rows

    if as_json:
        found = [
            {
                "kind": one.kind,
                "state": one.state,
                "operation": one.operation,
                "supported": one.reason is None,
                "reason": one.reason,
                "evidence": list(one.evidence),
            }
            for one in cells()
        ]
        click.echo(json.dumps(found, indent=2))
        return 0
    print_columns(("kind", "state", *operations()), list(rows()))
    click.echo()
    print_columns(("not done", "of", "why"), list(reasons()))
    return 0
