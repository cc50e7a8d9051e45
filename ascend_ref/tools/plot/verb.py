"""``ascend-ref plot``: a step of a profile as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ascend_ref.cli.guard import CommandError, one_line
from ascend_ref.cli.options import output
from ascend_ref.cli.outputs import refuse_existing
from ascend_ref.db.display import first_of

if TYPE_CHECKING:
    from .draw import Drawn


@click.command()
@click.argument("profile", type=click.Path(path_type=Path))
@click.option("--step", type=int, metavar="N", help="The step to draw; by default the first.")
@click.option("--rank", type=int, metavar="N", help="Of several ranks this one, not the first.")
@click.option("--device", type=int, metavar="N", help="Of several devices this one, not the first.")
@output("FILE", "The picture: FILE.svg, FILE.png or FILE.pdf.")
def plot(
    profile: Path,
    *,
    step: int | None,
    rank: int | None,
    device: int | None,
    output: Path,
    force: bool,
) -> None:
    """Draw one step of PROFILE: where its time went, streams, communication, and the operators and
    gaps that took longest.

    PROFILE is msprof_*.db, ascend_pytorch_profiler_*.db, trace_view.json, msprof_*.json,
    kernel_details.csv, op_summary_*.csv or task_time_*.csv, or a folder with any of them: the first
    kind in this order is drawn. Without any steps in it, the whole capture is.
    """
    from .draw import draw  # slow: numpy and pyarrow
    from .errors import CannotDraw

    refuse_existing(output, force=force)
    try:
        drawn = draw(profile, step, output, rank=rank, device=device)
    except CannotDraw as problem:
        raise CommandError(str(problem)) from problem
    for line in _remarks(drawn, output):
        click.echo(one_line(line), err=True)


def _remarks(drawn: Drawn, output: Path) -> Iterator[str]:
    """What was drawn from what, and what else there is."""
    (recording, sources, found), step = drawn
    of_rank = "" if recording.rank is None else f" of rank {recording.rank}"
    what = "the whole capture" if step.number is None else f"step {step.number}"
    files = " and ".join(str(path) for paths in sources for path in paths)
    yield f"wrote {output}: {what}{of_rank}, drawn from {files}"
    for name, own, known in (
        ("step", step.number, recording.step_numbers),
        ("rank", recording.rank, found.ranks),
        ("device", recording.device, recording.devices),
    ):
        others = [one for one in known if one != own]
        if others:
            yield f"not drawn: {name} {first_of(list(map(str, others)), 10)} (--{name} N)"
    if found.alike:
        first, number = found.alike[0].paths[0], len(found.alike)
        yield f"not drawn: {first}" + (f" and {number - 1} more like it" if number > 1 else "")
    if recording.dropped:
        plural = "" if recording.dropped == 1 else "s"
        yield f"left out: {recording.dropped:,} row{plural} without sane times"
