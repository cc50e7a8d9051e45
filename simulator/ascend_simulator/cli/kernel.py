"""``ascend-ref kernel``: write the ``visualize_data.bin`` of a simulated kernel, and its truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ascend_ref.cli.console import print_columns
from ascend_ref.execution.interrupts import interrupts_held

from .scenarios import is_file

if TYPE_CHECKING:
    from ..operator.scenario import KernelScenario


@click.command()
@click.argument("scenario", required=False, metavar="[PRESET|FILE]")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The folder to write; it must not exist, and appears only when all is written. By default "
    "one named after the scenario, here.",
)
@click.option("--mode", metavar="MODE", help="device, simulator or everything, not the scenario's.")
@click.option(
    "--chip", metavar="CHIP", help="This chip, by its SoC name (see --schema), not the scenario's."
)
@click.option("--block-dim", type=int, metavar="N", help="So many blocks, not the scenario's.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Chooses the run."
)
@click.option("--list", "as_list", is_flag=True, help="List the presets.")
@click.option("--yaml", "as_yaml", is_flag=True, help="Print the scenario, to copy and edit.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of these scenarios.")
@click.option("--truth-schema", is_flag=True, help="Print the JSON Schema of truth.json.")
def kernel(
    scenario: str | None,
    out: Path | None,
    mode: str | None,
    chip: str | None,
    block_dim: int | None,
    seed: int,
    as_list: bool,
    as_yaml: bool,
    schema: bool,
    truth_schema: bool,
) -> int:
    """Run the kernel of a PRESET or a scenario FILE; write its visualize_data.bin and truth.json.

    The same scenario and seed always give the same bytes. A name with a dot or a slash in it is a
    file.
    """
    if as_list + as_yaml + schema + truth_schema > 1:
        raise click.UsageError("--list, --yaml, --schema and --truth-schema exclude each other")
    if as_list or schema or truth_schema:
        if scenario is not None:
            raise click.UsageError("that concerns all scenarios; expected no name")
        _list() if as_list else _print_schema(truth=truth_schema)
        return 0
    if scenario is None:
        raise click.UsageError("expected a preset (see --list) or a scenario file")
    chosen = _chosen(scenario, mode, chip, block_dim)
    if as_yaml:
        from ..operator.scenario import to_yaml

        click.echo(to_yaml(chosen), nl=False)
        return 0
    _write(chosen, out or Path(chosen.name), seed)
    return 0


def _write(chosen: KernelScenario, folder: Path, seed: int) -> None:
    with interrupts_held():
        from ..operator.run import write_kernel  # slow: numpy

    try:
        written = write_kernel(chosen, folder.absolute(), seed)
    except FileExistsError as error:
        raise click.UsageError(f"{error.filename} exists already") from None
    shown = folder / written.file.name
    click.echo(
        f"{shown}: {written.blocks} blocks, {written.size:,} Byte; what is true of it in "
        f"{folder / written.truth.name}"
    )


def _chosen(name: str, mode: str | None, chip: str | None, block_dim: int | None) -> KernelScenario:
    from ..operator.scenario import load, override, preset, validate

    found = load(name) if is_file(name) else preset(name)
    options = {"--mode": mode, "--chip": chip, "--block-dim": block_dim}
    given = [f"{option} {value}" for option, value in options.items() if value is not None]
    changed = override(found, mode=mode, chip=chip, block_dim=block_dim)
    return validate(changed, f"{name} with {' '.join(given)}") if given else changed


def _list() -> None:
    from ..operator.scenario import presets

    rows = [
        (one.name, one.operator.kind, one.device.chip, one.capture.mode, one.summary)
        for one in presets().values()
    ]
    print_columns(("kernel", "operator", "chip", "mode", "for"), rows)


def _print_schema(*, truth: bool) -> None:
    from ..operator.scenario import kernel_schema

    if truth:
        from ..operator.truth import truth_schema

        click.echo(json.dumps(truth_schema(), indent=2))
    else:
        click.echo(json.dumps(kernel_schema().value, indent=2))
