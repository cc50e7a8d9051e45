"""``ascend-ref decode``: binary files as readable JSON."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import output
from ascend_ref.cli.outputs import room_for
from ascend_ref.cli.progress import progress_bar
from ascend_ref.cli.suggest import unknown


def _block_types(
    context: click.Context, parameter: click.Parameter, names: tuple[str, ...]
) -> frozenset[int] | None:
    """The codes behind ``0x08``, ``8`` or ``memory-heat-map``."""
    from ascend_spec import bin_catalog

    blocks = bin_catalog().blocks
    slugs = {block.slug: code for code, block in blocks.items()}
    found: set[int] = set()
    for name in names:
        try:
            code = slugs[name] if name in slugs else int(name, 0)
        except ValueError:
            raise click.BadParameter(unknown("block", name, slugs)) from None
        if not 0 <= code <= 0xFF:
            raise click.BadParameter(f"{name} is no block type; expected 0x00 to 0xff")
        found.add(code)
    return frozenset(found) or None


MOST_PROBLEMS = 100
"""Lines of no form that are stated each."""


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--block",
    "types",
    metavar="TYPE",
    multiple=True,
    callback=_block_types,
    help="Only blocks of this type: 0x08, 8 or memory-heat-map; may be repeated.",
)
@click.option(
    "--rows",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    help="Of a raw file, so many records or lines.",
)
@click.option("--all", "everything", is_flag=True, help="Of a raw file, all of them.")
@output(
    "DIR",
    "Write every block into a file of this folder, from which encode leads back.",
    required=False,
)
def decode(
    path: Path,
    types: frozenset[int] | None,
    rows: int,
    everything: bool,
    output: Path | None,
    force: bool,
) -> int:
    """Show a visualize_data.bin, a raw file of a profiler or a folder of them as readable JSON.

    The blocks of a visualize_data.bin can be written into a folder as well. Of a raw file the first
    records are shown, with texts for their numbers and Unix times where the files next to it have
    them; of a PROF_* folder what lies in it. Raw files of MindSpore's profiler are shown likewise,
    and the texts of the graph engine about the host (ge_profiling_PID.txt).
    What is damaged is reported on stderr with its byte offset. Exit codes: 0 all read, 1 damaged,
    2 no such file.
    """
    if not path.exists():
        raise CommandError(f"{path}: No such file or directory")
    if path.is_dir() or _is_raw(path):
        if types is not None or output is not None:
            option = "--block" if types is not None else "-o"
            raise CommandError(f"{path}: {option} is for a visualize_data.bin, this is raw data")
        return _decode_raw(path, None if everything else rows)
    if _is_dump(path):
        if types is not None or output is not None:
            option = "--block" if types is not None else "-o"
            raise CommandError(f"{path}: {option} is for a visualize_data.bin, this is a text")
        return _decode_dump(path, None if everything else rows)
    return _decode_operator_file(path, types, output, force=force)


def _is_raw(path: Path) -> bool:
    from ascend_ref.mindspore.show import kind_of as kind_of_mindspore
    from ascend_ref.raw import kind_of

    return kind_of(path) is not None or kind_of_mindspore(path) is not None


def _is_dump(path: Path) -> bool:
    from ascend_ref.ge.dump import is_dump

    try:
        return is_dump(path)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from None


def _decode_dump(path: Path, rows: int | None) -> int:
    from ascend_ref.ge.dump import show_dumps

    problems = show_dumps(path, rows, sys.stdout)
    for problem in problems[:MOST_PROBLEMS]:
        click.echo(problem, err=True)
    if len(problems) > MOST_PROBLEMS:
        click.echo(f"{path}: {len(problems) - MOST_PROBLEMS:,} more lines of no form", err=True)
    return 1 if problems else 0


def _decode_raw(path: Path, rows: int | None) -> int:
    from ascend_ref.mindspore.show import show_capture_file
    from ascend_ref.raw import Unreadable, kind_of
    from ascend_ref.raw.show import show_raw

    # A name may be of both; msprof's files are described with what stands next to them.
    kind = None if path.is_dir() else kind_of(path)
    is_mindspore = not path.is_dir() and (kind is None or kind.form == "unknown")
    try:
        problems = (show_capture_file if is_mindspore else show_raw)(path, rows, sys.stdout)
    except Unreadable as error:
        raise CommandError(str(error)) from None
    for problem in problems:
        click.echo(problem, err=True)
    return 1 if problems else 0


def _decode_operator_file(
    file: Path, types: frozenset[int] | None, output: Path | None, *, force: bool
) -> int:
    from ascend_ref.bin import Unreadable
    from ascend_ref.bin.folder import decode_folder
    from ascend_ref.bin.show import show

    try:
        if output is None:
            problems = show(file, types, sys.stdout)
        else:
            with room_for(output, force=force), progress_bar(file.name) as advance:
                manifest = decode_folder(file, output, types, advance)
            problems = _problems(manifest)
            what = _count(sum("type" in one for one in manifest["segments"]), "block")
            click.echo(f"wrote {output}: {what}", err=True)
    except Unreadable as error:
        raise CommandError(str(error)) from None
    for problem in problems:
        click.echo(f"{file}: {problem}", err=True)
    return 1 if problems else 0


def _problems(manifest: dict[str, Any]) -> list[str]:
    damage = [f"byte {one['offset']:,}: {one['message']}" for one in manifest["damage"]]
    unread = [
        f"block {place} ({one['name']}) at byte {one['offset']:,}: {one['problem']}"
        for place, one in enumerate(manifest["segments"])
        if "problem" in one
    ]
    return damage + unread


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
