"""``ascend-ref encode``."""

from __future__ import annotations

from pathlib import Path

import click

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import output
from ascend_ref.cli.outputs import refuse_existing
from ascend_ref.cli.progress import progress_bar


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
