"""``ascend-ref spec``: look up the formats, and hand them to other programs."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from ascend_ref.cli.console import print_columns, print_page
from ascend_ref.cli.suggest import unknown
from ascend_spec import Catalog, Schema, catalog
from ascend_spec.bin import bin_catalog
from ascend_spec.db.model import CARRIERS, Carrier, Reading
from ascend_spec.text import text_catalog
from ascend_spec.timeline import timeline_catalog

from .csv_schema import csv_schema_file_name, export_csv_schema
from .document_pages import (
    document_schema_file_name,
    event_schema_file_name,
    export_document_schema,
    export_event_schema,
    writers_of_document,
    writers_of_layer,
)
from .formats import FORMATS, file_name
from .listing import LISTINGS, Scope
from .lookup import find, names
from .output import write_atomically
from .payload import export_payload_schema, payload_file_name


@click.group(no_args_is_help=False)
def spec() -> None:
    """Look up tables, enums, block types, CSV files, layers and errata, and export them."""


@spec.command("list")
@click.argument("kind", type=click.Choice(list(LISTINGS)), default="tables")
@click.option("--carrier", type=click.Choice(CARRIERS), help="Only what this database holds.")
@click.option("--revision", metavar="REVISION", help="Only what stands at this revision.")
@click.option(
    "--reading",
    type=click.Choice(get_args(Reading)),
    help="Only what this reading of the sources holds.",
)
def list_(
    kind: str, carrier: Carrier | None, revision: str | None, reading: Reading | None
) -> None:
    """List the objects of one KIND, tables where none is named."""
    schemas: tuple[Schema, ...] = ()
    if carrier or revision or reading:
        schemas = tuple(
            _schema(catalog(), one, revision, reading or "observed")
            for one in ((carrier,) if carrier else CARRIERS)
        )
    listing = LISTINGS[kind](Scope(catalog(), schemas))
    print_columns(listing.headers, listing.rows)


@spec.command()
@click.argument("name")
def show(name: str) -> None:
    """Tell everything about NAME: a table, TABLE.column, enum, erratum, revision, switch, product,
    value type, source, a block type of visualize_data.bin by its code or name, a CSV file, a layer
    of the timeline, a kind of event (CANN/call) or a JSON document.
    """
    render = find(catalog(), name)
    if render is None:
        raise click.UsageError(unknown("name", name, names(catalog())))
    print_page(render)


@spec.command()
@click.argument("format_", metavar="FORMAT", type=click.Choice(list(FORMATS)))
@click.option(
    "--carrier",
    type=click.Choice(CARRIERS),
    default="pytorch",
    show_default=True,
    help="The database to describe.",
)
@click.option(
    "--revision", metavar="REVISION", help="A revision or SCHEMA_VERSION; by default the newest."
)
@click.option(
    "--reading",
    type=click.Choice(get_args(Reading)),
    default="observed",
    show_default=True,
    help="Where documents and real files disagree: which of them to follow.",
)
@click.option(
    "--block",
    metavar="TYPE",
    help="Not a database but the JSON of this block type of visualize_data.bin: 0x08 or its name.",
)
@click.option(
    "--epoch", metavar="EPOCH", help="With --block: at this epoch; by default the newest."
)
@click.option(
    "--file",
    "csv_file",
    metavar="FILE",
    help="Not a database but one row of this CSV file, or this JSON document: op_summary, "
    "communication and so on.",
)
@click.option(
    "--layer", metavar="LAYER", help="Not a database but an event of this layer of the timeline."
)
@click.option(
    "--writer",
    metavar="WRITER",
    help="With --file or --layer: as written by this one; by default the first.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE|DIR",
    help="Write to this file, or to a file of its own name in this folder; - is stdout.",
)
def export(
    format_: str,
    carrier: Carrier,
    revision: str | None,
    reading: Reading,
    block: str | None,
    epoch: str | None,
    csv_file: str | None,
    layer: str | None,
    writer: str | None,
    output: str | None,
) -> None:
    """Write one database schema in FORMAT: json-schema, ddl, c-header or markdown; or, as
    json-schema, the schema of a block of visualize_data.bin, of a row of a CSV file, of a JSON
    document or of an event.
    """
    options = {"--block": block, "--file": csv_file, "--layer": layer}
    if len(given := [option for option, value in options.items() if value is not None]) > 1:
        raise click.UsageError(f"{' and '.join(given)} exclude each other")
    if epoch is not None and block is None:
        raise click.UsageError("--epoch is for --block; databases have a --revision")
    if writer is not None and csv_file is None and layer is None:
        raise click.UsageError("--writer is for --file and --layer; databases have a --revision")
    if block is not None:
        text, name = _payload_schema(format_, block, epoch)
    elif csv_file is not None:
        text, name = _file_schema(format_, csv_file, writer)
    elif layer is not None:
        text, name = _event_schema(format_, layer, writer)
    else:
        schema = _schema(catalog(), carrier, revision, reading)
        chosen = FORMATS[format_]
        text, name = chosen.write(schema), file_name(schema, chosen)
    if output in (None, "-"):
        click.echo(text, nl=False)
        return
    path = Path(output)
    if path.is_dir() or output.endswith(("/", "\\")):
        path.mkdir(parents=True, exist_ok=True)
        path /= name
    write_atomically(path, text)
    click.echo(f"wrote {path}", err=True)


def _schema(facts: Catalog, carrier: Carrier, revision: str | None, reading: Reading) -> Schema:
    name = revision or facts.revisions[-1].id
    try:
        return facts.at(name, carrier, reading)
    except KeyError:
        known = [one.id for one in facts.revisions]
        raise click.UsageError(unknown("revision", name, known)) from None


def _payload_schema(format_: str, name: str, epoch: str | None) -> tuple[str, str]:
    """The schema of a block type at an epoch, and the name of a file for it."""
    bins = bin_catalog()
    block = bins.block(name)
    if block is None:
        raise click.UsageError(unknown("block", name, [one.slug for one in bins.blocks.values()]))
    if format_ != "json-schema" or not bins.has_schema(block.code):
        what = "is exported as json-schema only" if format_ != "json-schema" else "holds no JSON"
        raise click.UsageError(f"block 0x{block.code:02X} {block.name} {what}")
    known = {one.id: one for one in bins.epochs}
    if epoch is not None and epoch not in known:
        raise click.UsageError(unknown("epoch", epoch, known))
    state = known[epoch] if epoch is not None else bins.epochs[-1]
    if not bins.axis.in_force(block, state.id):
        raise click.UsageError(
            f"block 0x{block.code:02X} {block.name} has been there since {block.since}, "
            f"and not at {state.id}"
        )
    return export_payload_schema(bins, block, state), payload_file_name(block, state)


def _file_schema(format_: str, name: str, writer: str | None) -> tuple[str, str]:
    """The schema of a row of a CSV file or of a JSON document, and the name of a file for it."""
    known, documents = text_catalog().csv, writers_of_document()
    if name not in known and name not in documents:
        raise click.UsageError(unknown("file", name, [*known, *documents]))
    if format_ != "json-schema":
        raise click.UsageError(f"{name} is exported as json-schema only")
    writers = documents[name] if name in documents else tuple(known[name].writers)
    chosen = _writer(writer, writers)
    if name in documents:
        return export_document_schema(name, chosen), document_schema_file_name(name, chosen)
    by = known[name].writers[chosen]
    return export_csv_schema(known[name], by), csv_schema_file_name(known[name], by)


def _event_schema(format_: str, name: str, writer: str | None) -> tuple[str, str]:
    """The schema of an event of a layer, and the name of a file for it."""
    layer = timeline_catalog().layer(name)
    if layer is None:
        raise click.UsageError(unknown("layer", name, timeline_catalog().layers))
    if format_ != "json-schema":
        raise click.UsageError(f"layer {layer.name} is exported as json-schema only")
    chosen = _writer(writer, writers_of_layer(layer.name))
    return export_event_schema(layer.name, chosen), event_schema_file_name(layer.name, chosen)


def _writer(name: str | None, known: tuple[str, ...]) -> str:
    if name is not None and name not in known:
        raise click.UsageError(unknown("writer", name, known))
    return known[0] if name is None else name
