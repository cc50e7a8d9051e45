"""``ascend-ref spec``: look up the formats, and hand them to other programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import reduce, wraps
from pathlib import Path
from typing import Any, get_args

import click
from click.shell_completion import CompletionItem

from ascend_ref.cli.console import print_columns, print_page, print_rows
from ascend_ref.cli.options import REVISION, Known, output
from ascend_ref.cli.shell import SpecVerbs
from ascend_spec import Schema, catalog, text_catalog
from ascend_spec.db.model import CARRIERS, Reading

from . import listing
from .formats import FORMATS, JSON_SCHEMA
from .lookup import NotFound, find, of_kinds
from .subject import KINDS, SCHEMA, Axis, Scope, Subject


class Address(click.ParamType[Subject]):
    """An address, or a name that only one thing has."""

    name = "address"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Subject:
        """The subject that a text means."""
        try:
            return find(value)
        except NotFound as problem:
            raise click.UsageError(str(problem), ctx) from None

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Addresses that begin so; before the slash the kinds, and the names of tables."""
        wanted = incomplete.casefold()
        if "/" in incomplete:
            return [
                CompletionItem(one.address, help=one.summary)
                for one in of_kinds([wanted.partition("/")[0]])
                if one.address.casefold().startswith(wanted)
            ]
        kinds = [CompletionItem(f"{kind}/") for kind in KINDS if kind.startswith(wanted)]
        tables = (one.name for one in of_kinds(["table"]))
        return kinds + [CompletionItem(one) for one in tables if one.casefold().startswith(wanted)]


KIND = Known(
    "kind",
    lambda: (
        {listing.EVERYTHING: listing.EVERYTHING}
        | {facts.plural: kind for kind, facts in KINDS.items()}
    ),
    lambda: {kind: kind for kind in KINDS},
    "; see: ascend-ref spec list",
)
PRODUCT = Known("product", lambda: {name: name for name in catalog().products})
WRITER = Known("writer", lambda: {name: name for name in text_catalog().writers})


def narrowed(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options by which a list or a page is narrowed; they come as one ``scope``."""
    options = (
        click.option(
            "--carrier",
            type=click.Choice(CARRIERS, case_sensitive=False),
            help="Only what this database holds.",
        ),
        click.option(
            "--revision",
            type=REVISION,
            metavar="REVISION",
            help="Only what stands at this revision, as it is there.",
        ),
        click.option(
            "--reading",
            type=click.Choice(get_args(Reading)),
            help="Only what this reading of the sources holds.",
        ),
        click.option(
            "--level", type=click.IntRange(0, 2), help="Only what this profiler level yields."
        ),
        click.option(
            "--product",
            type=PRODUCT,
            metavar="PRODUCT",
            help="Only what this product family yields: A2, 310P and so on.",
        ),
        click.option(
            "--writer",
            type=WRITER,
            metavar="WRITER",
            help="Only what this generation of exporters writes, and how: cpp, adapter.",
        ),
        click.option(
            "--default", is_flag=True, default=None, help="Only what is collected by default."
        ),
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    )

    @wraps(command)
    def with_scope(**given: Any) -> None:
        asked: dict[Axis, Any] = {axis: given.pop(axis) for axis in get_args(Axis)}
        command(scope=_scope(asked), **given)

    return reduce(lambda made, option: option(made), reversed(options), with_scope)


@click.group(cls=SpecVerbs, no_args_is_help=False)
def spec() -> None:
    """Look up everything that the formats consist of.

    Each thing has one address, kind/name: table/TASK, column/TASK.startNs, csv/op_summary,
    layer/HBM, command/source/details/baseInfo, record/header, product/A3. The name alone will do
    where only one thing has it.
    """


@spec.command("list")
@click.argument("kind", type=KIND, required=False)
@narrowed
def list_(kind: str | None, scope: Scope, as_json: bool) -> None:
    """List the addresses of one KIND or of all; the kinds where none is named."""
    if kind is None and not scope.axes:
        print_rows(*listing.kinds(), as_json=as_json)
        return
    if kind is not None and kind != listing.EVERYTHING:
        _refuse_axes(scope, kind)
    listed = listing.chosen(kind or listing.EVERYTHING, scope)
    if as_json:
        found = [{"address": one.address, "summary": one.summary, **one.cells} for one in listed]
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        print_columns(*listing.rows(listed))


@spec.command()
@click.argument("subject", metavar="ADDRESS", type=Address())
@narrowed
def show(subject: Subject, scope: Scope, as_json: bool) -> None:
    """Show the thing at ADDRESS: what it is, where it stands, who says so, what disagrees.

    A file's name (trace_view.json), an option's (ACL_AICORE_L2_CACHE) or a chip's will do as well.
    """
    _refuse_axes(scope, subject.kind)
    state = subject.within(scope)
    if state is None:
        raise click.UsageError(f"{subject.address} is not there under these options")
    if as_json:
        click.echo(json.dumps(state.document(), indent=2, ensure_ascii=False))
    else:
        print_page(state.section)


@spec.command()
@click.argument("subject", metavar="ADDRESS", type=Address())
@click.option(
    "--as",
    "format_",
    type=click.Choice(list(FORMATS)),
    default=JSON_SCHEMA,
    show_default=True,
    help="What to write; ddl, c-header and markdown of databases, openapi of an interface.",
)
@click.option(
    "--at",
    metavar="STATE",
    help="A revision or SCHEMA_VERSION of a database, an epoch of a block, a writer of a file or "
    "layer, a generation of an API, or a day of MindInsight; by default the newest.",
)
@click.option(
    "--reading",
    type=click.Choice(get_args(Reading)),
    default="observed",
    show_default=True,
    help="Where documents and real files disagree: which of them to follow.",
)
@click.option(
    "--part",
    type=click.Choice(["parameters", "body"]),
    default="body",
    show_default=True,
    help="Of a command: its parameters, or the body of its answer.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE|DIR",
    help="Write to this file, or to a file of its own name in this folder; - is stdout.",
)
@click.option("--force", is_flag=True, help="Replace a file that exists.")
def export(
    subject: Subject,
    format_: str,
    at: str | None,
    reading: Reading,
    part: str,
    output: str | None,
    force: bool,
) -> None:
    """Write the thing at ADDRESS for other programs.

    A database (carrier/pytorch) as json-schema, ddl, c-header or markdown; a block of
    visualize_data.bin, a row of a CSV file, a JSON document, an event of a layer or a message of
    the API as json-schema; what MindInsight is asked (interface/mindinsight) as openapi.
    """
    from ascend_ref.atomic import write_atomically
    from ascend_ref.cli.outputs import refuse_existing

    from .exports import CannotExport, Wanted
    from .exports import export as export_subject

    try:
        exported = export_subject(subject, Wanted(format_, at, reading, part))
    except CannotExport as problem:
        raise click.UsageError(str(problem)) from None
    if output in (None, "-"):
        click.echo(exported.text, nl=False)
        return
    path = Path(output)
    if path.is_dir() or output.endswith(("/", "\\")):
        path.mkdir(parents=True, exist_ok=True)
        path /= exported.file_name
    refuse_existing(path, force=force)
    write_atomically(path, exported.text)
    click.echo(f"wrote {path}", err=True)


@spec.command()
@click.argument("draft", type=click.Path(exists=True, path_type=Path))
@output("DIR")
def overlay(draft: Path, output: Path, force: bool) -> None:
    """Write a working copy of the whole spec with DRAFT laid over it.

    DRAFT is a YAML document, or a folder of them, of addresses with what is new or different there:
    "column/TASK.queueOf: {after: taskId, type: streamId, ...}". To use it, no copy is needed:
    ascend-ref --spec takes a draft as well.
    """
    from ascend_ref.cli.outputs import room_for
    from ascend_spec import current, load_spec
    from ascend_spec.overlay import is_draft

    from .working_copy import write_working_copy

    if not is_draft(draft):
        raise click.UsageError(f"{draft}: expected a draft, a YAML document or a folder of some")
    laid = load_spec(draft, current())
    with room_for(output, force=force):
        write_working_copy(laid, output)
    click.echo(f"wrote {output}", err=True)


def _scope(asked: Mapping[Axis, Any]) -> Scope:
    """What the options ask for; ``None`` where one is not given."""
    carrier, revision, reading = (asked[axis] for axis in SCHEMA)
    schemas: tuple[Schema, ...] = ()
    if carrier or revision or reading:
        at = (revision or catalog().revisions[-1]).id
        carriers = (carrier,) if carrier else CARRIERS
        schemas = tuple(catalog().at(at, one, reading or "observed") for one in carriers)
    axes = frozenset(axis for axis, value in asked.items() if value is not None)
    level, product, writer = asked["level"], asked["product"], asked["writer"]
    return Scope(schemas, level, product, writer, bool(asked["default"]), axes)


def _refuse_axes(scope: Scope, kind: str) -> None:
    """Refuse an option that has no meaning for a kind, rather than ignore it."""
    facts = KINDS[kind]
    for axis in sorted(scope.axes - set(facts.axes)):
        where = ", ".join(one.plural for one in KINDS.values() if axis in one.axes)
        raise click.UsageError(f"--{axis} does not narrow {facts.plural}, but {where}")
