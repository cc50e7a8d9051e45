"""``ascend-ref mindspore propose``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ascend_ref.cli.guard import CommandError


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--device", metavar="N", help="Device; by default the only one that has files in DIR."
)
@click.option(
    "--types",
    metavar="A,B",
    help="Proposers that are asked; by default all of a device. parallel is that of all ranks. Of "
    "this project, and no viewer's, are reduction, aicpu and launch.",
)
@click.option("--json", "as_json", is_flag=True, help="With numbers and rules, for programs.")
def propose(folder: Path, device: str | None, types: str | None, as_json: bool) -> int:
    """Advise as the proposers of MindSpore's viewer do, from intermediate files.

    DIR is that which `mindspore parse` wrote, or one with profiler in it. On stderr: rules that
    could not be asked, rules that hold and are not shown, and what of the files cannot be read.

    Exit codes: 0 asked, 1 files were damaged, 2 nothing could be asked.
    """
    from ascend_ref.raw.damage import Unreadable

    from ..analyse.files import open_folder
    from .compose import compose, is_of_all_ranks  # slow: the spec
    from .proposers import OF_DEVICE, NoProposer

    names = OF_DEVICE if types is None else [one.strip() for one in types.split(",")]
    try:
        files = open_folder(folder, device, of_all_ranks=is_of_all_ranks(names))
        found = compose(files, names)
    except (NoProposer, Unreadable) as problem:
        raise CommandError(str(problem.args[0])) from None
    if as_json:
        answer = {
            "proposals": [
                {
                    "rule": one.rule.proposal,
                    "proposer": one.rule.proposer,
                    "kind": one.rule.kind,
                    "text": one.text,
                    "numbers": dict(one.numbers),
                }
                for one in found.proposals
            ],
            "hidden": dict(found.hidden),
            "skipped": dict(found.skipped),
            "viewer": found.as_viewed(),
        }
        click.echo(json.dumps(answer, indent=2))
    else:
        for one in found.proposals:
            click.echo(f"{one.rule.proposal}: {one.text}")
        for what, reasons in (("skipped", found.skipped), ("not shown", found.hidden)):
            for name, reason in reasons.items():
                click.echo(f"{name}: {what}: {reason}", err=True)
    for damage in files.damage:
        click.echo(str(damage), err=True)
    return 1 if files.damage else 0
