"""``ascend-ref kernel``: write the ``visualize_data.bin`` of a simulated kernel, and its truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ascend_ref.cli.options import STAGED, number, output
from ascend_ref.cli.outputs import room_for
from ascend_ref.execution.interrupts import interrupts_held

from .presets import PresetOrFile, overridden

if TYPE_CHECKING:
    from ..operator.scenario import KernelScenario


@click.command()
@click.argument("scenario", metavar="PRESET|FILE", type=PresetOrFile("kernel"))
@output("DIR", f"{STAGED} By default one named after the scenario, here.", required=False)
@click.option("--mode", metavar="MODE", help="device, simulator or everything, not the scenario's.")
@click.option(
    "--chip",
    metavar="CHIP",
    help="This chip, by its SoC name (see scenarios --of kernel --schema), not the scenario's.",
)
@click.option("--block-dim", type=int, metavar="N", help="So many blocks, not the scenario's.")
@number("--seed", 0, None, 0, "Chooses the run.")
def kernel(
    scenario: str,
    output: Path | None,
    force: bool,
    mode: str | None,
    chip: str | None,
    block_dim: int | None,
    seed: int,
) -> int:
    """Run the kernel of a PRESET or a scenario FILE; write its visualize_data.bin and truth.json.

    The same scenario and seed always give the same bytes. The presets are listed by: ascend-ref
    scenarios --of kernel
    """
    chosen = _chosen(scenario, mode, chip, block_dim)
    folder = output or Path(chosen.name)
    with room_for(folder, force=force):
        _write(chosen, folder, seed)
    return 0


def _write(chosen: KernelScenario, folder: Path, seed: int) -> None:
    with interrupts_held():
        from ..operator.run import write_kernel  # slow: numpy

    written = write_kernel(chosen, folder.absolute(), seed)
    shown = folder / written.file.name
    click.echo(
        f"{shown}: {written.blocks} blocks, {written.size:,} Byte; what is true of it in "
        f"{folder / written.truth.name}"
    )


def _chosen(name: str, mode: str | None, chip: str | None, block_dim: int | None) -> KernelScenario:
    from ..operator.scenario import KERNEL, override

    return overridden(KERNEL, override, name, mode=mode, chip=chip, block_dim=block_dim)
