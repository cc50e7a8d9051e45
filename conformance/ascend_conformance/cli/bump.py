"""``ascend-ref spec bump``: the next revision of a draft or working copy."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from ascend_ref.cli.guard import one_line
from ascend_ref.cli.progress import progress_bar
from ascend_spec import current

NAMED = 12
"""Names of one kind that are printed; JSON has all."""


@click.command()
@click.argument("path", metavar="DRAFT|FOLDER", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--schema-version",
    "version",
    metavar="VERSION",
    help="Its SCHEMA_VERSION; by default the least that the changes admit.",
)
@click.option(
    "--date",
    "day",
    metavar="DAY",
    help="Its day, as 2026-12-01; by default the only one on which something of it begins or ends.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def bump(path: Path, version: str | None, day: str | None, as_json: bool) -> int:
    """Write the next revision into a draft or a working copy, and list what its changes touch.

    The version must raise what the changes demand: MAJOR for a rewritten format, MINOR for what a
    reader misses or misreads, MICRO for what is new. Where it does not, nothing is written, and the
    exit code is 1. A revision that stands there already is judged in the same way.
    """
    from ..fixtures.changing import changing
    from ..schema.next_revision import CannotBump, NotAdmitted, next_revision
    from ..schema.touched import touched

    try:
        with progress_bar("comparing"):
            found = next_revision(path, current(), version=version, day=day)
    except CannotBump as problem:
        raise click.UsageError(str(problem)) from None
    try:
        found.demand()
    except NotAdmitted as problem:
        click.echo(one_line(str(problem)))
        return 1
    is_needed = found.required != "none" or version is not None
    written = None
    if is_needed and not found.stated:
        try:
            written = found.write()
        except CannotBump as problem:
            raise click.UsageError(str(problem)) from None
    with progress_bar("what the changes touch"):
        rows = dict(touched(found.old, found.new).rows())
        rows["fixtures"] = changing(found.old, found.new)
    if as_json:
        document = {
            "previous": found.previous.schema_version,
            "required": found.required,
            "revision": asdict(found.revision) if is_needed or found.stated else None,
            "written": None if written is None else str(written),
            "changes": [{"rule": one.rule, "address": one.address} for one in found.changes],
            "touched": {kind: list(names) for kind, names in rows.items()},
        }
        click.echo(json.dumps(document, indent=2))
        return 0
    number = f"{len(found.changes)} change{'s' * (len(found.changes) != 1)}"
    if not is_needed and not found.stated:
        click.echo(f"{number}, none of which demands a new SCHEMA_VERSION")
    else:
        demanded = "nothing" if found.required == "none" else found.required
        demand = "demands" if len(found.changes) == 1 else "demand"
        versions = f"{found.previous.schema_version} to {found.revision.schema_version}"
        click.echo(f"revision/{found.revision.id}: {versions}; {number} {demand} {demanded}")
    if written is not None:
        click.echo(f"wrote {written}", err=True)
    for kind, names in rows.items():
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        click.echo(f"{kind:<9} {len(names):>3}  {', '.join(names[:NAMED])}{more}".rstrip())
    return 0
