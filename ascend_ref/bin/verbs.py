"""``ascend-ref decode`` and ``ascend-ref encode``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import output
from ascend_ref.cli.outputs import refuse_existing, room_for
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


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--block",
    "types",
    metavar="TYPE",
    multiple=True,
    callback=_block_types,
    help="Only blocks of this type: 0x08, 8 or memory-heat-map; may be repeated.",
)
@output(
    "DIR",
    "Write every block into a file of this folder, from which encode leads back.",
    required=False,
)
def decode(file: Path, types: frozenset[int] | None, output: Path | None, force: bool) -> int:
    """Show the blocks of a visualize_data.bin as readable JSON, or write them into a folder.

    What is damaged is reported on stderr with its byte offset. Exit codes: 0 all read, 1 damaged,
    2 no such file.
    """
    from . import Unreadable
    from .folder import decode_folder
    from .show import show

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


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@output("FILE", "The file to write.")
def encode(folder: Path, output: Path, force: bool) -> int:
    """Write the visualize_data.bin that a folder of decode describes.

    What was not edited comes back byte for byte; an edited block gets a fitting header.
    """
    from . import Unreadable
    from .folder import encode_folder

    refuse_existing(output, force=force)
    try:
        with progress_bar(folder.name) as advance:
            size = encode_folder(folder, output, advance)
    except Unreadable as error:
        raise CommandError(str(error)) from None
    click.echo(f"wrote {output}: {size:,} bytes", err=True)
    return 0
