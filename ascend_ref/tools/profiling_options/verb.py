"""``ascend-ref ge explain``."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ascend_ref.cli.guard import CommandError
from ascend_ref.cli.options import Known
from ascend_ref.db.display import clip
from ascend_ref.ge.options.text import read_options, refusal
from ascend_spec import catalog

if TYPE_CHECKING:
    from ascend_ref.ge.options.explain import Ways
    from ascend_ref.ge.options.given import Given

PRODUCT = Known("product", lambda: {name: name for name in catalog().products})
USUAL = "A2"
SHOWN = 60
"""Of a variable in a message."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


@click.command()
@click.argument("words", metavar="[OPTIONS|FILE] [NAME=VALUE]...", nargs=-1)
@click.option(
    "--mode",
    metavar="0|1",
    help="ge.exec.profilingMode; 1 by default where options are given.",
)
@click.option(
    "--environment",
    is_flag=True,
    help="Also ask the environment: the NAME=VALUE alone, or without any that of this process.",
)
@click.option(
    "--product",
    type=PRODUCT,
    metavar="PRODUCT",
    help="On this product family: A2, 310P and so on; by default on A2, with --for on each.",
)
@click.option(
    "--for",
    "wanted",
    metavar="ADDRESS",
    help="Which options record this table, CSV file, column, layer, timeline or raw file "
    "(table/HBM).",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print JSON, which also has options that are off, and columns.",
)
def explain(
    words: tuple[str, ...],
    mode: str | None,
    environment: bool,
    product: str | None,
    wanted: str | None,
    as_json: bool,
) -> int:
    """Explain what ge.exec.profilingOptions record, and which files, tables and layers follow.

    OPTIONS is the JSON text, or FILE has it. Options that the graph engine or its collector
    refuse are an error. spec show has the page of each option and thing.
    """
    from ascend_ref.ge.options.explain import explain as explained
    from ascend_ref.ge.options.show import as_document, as_lines, ways_as_lines

    if wanted is not None:
        if words or mode is not None or environment:
            raise click.UsageError("--for asks for options; expected none next to it")
        ways = _ways(wanted, product)
        document = asdict(ways)
        lines = ways_as_lines(ways, product)
    else:
        explanation = explained(_ask(words, mode, environment), product or USUAL)
        settings = explanation.settings
        if settings is not None and settings.problems:
            raise CommandError(refusal(settings.problems))
        document = as_document(explanation)
        lines = as_lines(explanation)
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        for line in lines:
            click.echo(line)
    return 0


def _ask(words: tuple[str, ...], mode: str | None, environment: bool) -> Given:
    from ascend_ref.ge.options.given import Given

    named = [one for one in words if _VARIABLE.match(one)]
    if named and not environment:
        raise click.UsageError(f"{clip(named[0], SHOWN)!a}: expected --environment next to it")
    texts = [one for one in words if one not in named]
    if len(texts) > 1:
        raise click.UsageError(f"{len(texts)} texts of options; expected one, in quotes")
    if not words and mode is None and not environment:
        raise click.UsageError("no options; expected a JSON text, a FILE, --environment or --for")
    options = read_options(texts[0]) if texts else None
    variables: dict[str, str] | None = None
    if environment:
        variables = dict(one.split("=", 1) for one in named) if named else dict(os.environ)
    if mode is None and options is not None:
        mode = "1"
    return Given(mode, options, variables)


def _ways(wanted: str, product: str | None) -> Ways:
    """How something is recorded, by its address."""
    from ascend_ref.ge.options.explain import ways_of
    from ascend_ref.tools.spec.lookup import NotFound, find

    try:
        subject = find(wanted)
    except NotFound as problem:
        raise click.UsageError(str(problem)) from None
    kind, _, name = subject.address.partition("/")
    column = None
    if kind == "column":
        kind, name = "table", name.partition(".")[0]
    elif kind == "header":
        kind, (name, _, column) = "csv", name.partition("/")
    if kind not in ("table", "csv", "layer", "timeline", "raw"):
        raise click.UsageError(
            f"{subject.address} is recorded by no option; expected a table, CSV file, column, "
            "layer, timeline or raw file"
        )
    address = f"{kind}/{name}"
    products = [product] if product else list(catalog().products)
    summary = subject.summary if column else find(address).summary
    return ways_of(address, summary, products, column)
