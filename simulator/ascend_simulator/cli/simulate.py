"""``ascend-ref simulate``: write the profiles of a simulated run, and what is true of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import REVISION, WORKERS, deliverables, number, output
from ascend_ref.cli.outputs import room_for
from ascend_ref.cli.progress import progress_bar
from ascend_ref.execution import NoCluster, open_executor
from ascend_ref.execution.interrupts import interrupts_held
from ascend_spec.db.model import Revision

from .presets import PresetOrFile, overridden

if TYPE_CHECKING:
    from ..scenario import Scenario

FORMATS = (
    *("pytorch-db", "pytorch-text", "pytorch-raw", "mindspore-db", "mindspore-text"),
    *("msprof-db", "csv", "timeline", "raw", "mindspore-raw", "mindspore-gpu"),
)
SMALL_ROWS = 3_000_000
"""Runs of fewer rows stay in this process by default: starting others costs about a second."""


OF_CANN = ("msprof-db", "csv", "timeline", "raw")
"""What follows from CANN's profiler alone, which options of the graph engine start."""


def _formats(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    return deliverables(texts, FORMATS)


@click.command()
@click.argument("scenario", metavar="PRESET|FILE", type=PresetOrFile("run"))
@output("DIR")
@click.option(
    "--as",
    "formats",
    multiple=True,
    callback=_formats,
    metavar="DELIVERABLES",
    help=f"What to write, of {', '.join(FORMATS)}; repeatable or separated by commas. By default "
    f"{FORMATS[0]}. Those of pytorch share a profile, and so do mindspore-db and mindspore-text, "
    "mindspore-raw and mindspore-gpu, and the others; several of these get a folder each.",
)
@number("--seed", 0, None, 0, "Chooses the run.")
@click.option("--ranks", type=int, help="As many ranks instead of the scenario's.")
@click.option("--steps", type=int, help="As many captured steps instead of the scenario's.")
@click.option("--level", type=int, help="This profiler level, 0 to 2, instead of the scenario's.")
@click.option(
    "--profiling-options",
    metavar="OPTIONS|FILE",
    help="Collect what ge.exec.profilingOptions ask for, and not what the scenario does; see "
    f"ge explain. Of {', '.join(OF_CANN)}, by default {OF_CANN[0]}.",
)
@click.option(
    "--revision",
    type=REVISION,
    metavar="REVISION",
    help="A revision of the schema, or a SCHEMA_VERSION; by default the newest.",
)
@click.option(
    "--generation",
    metavar="GENERATION",
    help="Of MindSpore's profiler, for mindspore-raw and mindspore-gpu: G1 to G3m, or a day "
    "(2021-12-16), by default the first; for mindspore-text and mindspore-db: G5a to G5c, by "
    "default today's.",
)
@click.option(
    "--workers",
    type=WORKERS,
    show_default="one per core, at most 4, for large runs",
    help="Processes that write the ranks.",
)
@click.option(
    "--dask",
    metavar="ADDRESS",
    help="Write the ranks on the dask.distributed cluster of this scheduler instead; it sees DIR "
    "under the same path.",
)
def simulate(
    scenario: str,
    output: Path,
    force: bool,
    formats: tuple[str, ...],
    seed: int,
    ranks: int | None,
    steps: int | None,
    level: int | None,
    profiling_options: str | None,
    revision: Revision | None,
    generation: str | None,
    workers: int | None,
    dask: str | None,
) -> int:
    """Simulate a PRESET or the scenario in a FILE, and write its profiles and truth.json.

    The same scenario and seed always give the same bytes, wherever they are written. The presets
    are listed by: ascend-ref scenarios
    """
    chosen = _chosen(scenario, ranks, steps, level)
    if profiling_options is None:
        formats = formats or FORMATS[:1]
    else:
        formats = formats or OF_CANN[:1]
        if level is not None:
            raise click.UsageError("--level and --profiling-options: task_time states the level")
        if others := [one for one in formats if one not in OF_CANN]:
            raise click.UsageError(
                f"--profiling-options: no {others[0]} follows from it; expected --as with some of "
                f"{', '.join(OF_CANN)}"
            )
        chosen = _asked_by(chosen, profiling_options)
    for switch in _idle(chosen):
        click.echo(f"capture.{switch}: {chosen.hardware.product} has no such data", err=True)
    with interrupts_held():
        from ..run import write_run  # slow: numpy, pyarrow

    as_of = None if revision is None else revision.id
    try:
        with (
            room_for(output, force=force),
            open_executor(workers or _fitting(chosen), dask) as executor,
            progress_bar("simulating") as progress,
        ):
            run = write_run(
                chosen,
                seed,
                output.absolute(),
                formats,
                as_of,
                executor,
                progress,
                generation=generation,
            )
    except KeyError as unknown:
        raise CommandError(str(unknown.args[0])) from None
    except NoCluster as error:
        raise click.ClickException(str(error)) from None
    if run.lost:
        click.echo(f"raw files do not hold {'; '.join(run.lost)}", err=True)
    for path in (*run.profiles, *run.truths):
        click.echo(str(output / path.relative_to(run.folder)))
    return 0


def _chosen(name: str, ranks: int | None, steps: int | None, level: int | None) -> Scenario:
    from ..scenario import RUN, override

    return overridden(RUN, override, name, ranks=ranks, steps=steps, level=level)


def _asked_by(scenario: Scenario, word: str) -> Scenario:
    from ascend_ref.ge.options.text import read_options

    from ..scenario.profiling_options import asked_by

    asked, warnings = asked_by(scenario, read_options(word))
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
    return asked


def _idle(scenario: Scenario) -> tuple[str, ...]:
    from ..scenario.collected import idle_switches

    return idle_switches(scenario)


def _fitting(scenario: Scenario) -> int:
    from ..scenario.estimate import rows_per_rank

    parallelism = scenario.parallelism
    if rows_per_rank(scenario) * parallelism.ranks < SMALL_ROWS:
        return 1
    processes = parallelism.ranks // parallelism.devices_per_process
    return min(os.cpu_count() or 1, 4, processes)
