"""``ascend-ref scenarios``: list the presets, and explain what a scenario says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from ascend_ref.cli.console import print_columns

if TYPE_CHECKING:
    from ..scenario import Scenario


@click.command()
@click.argument("scenario", required=False, metavar="[PRESET|FILE]")
@click.option("--yaml", "as_yaml", is_flag=True, help="Print the document, to copy and edit.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of scenarios.")
@click.option("--truth-schema", is_flag=True, help="Print the JSON Schema of truth.json.")
def scenarios(
    scenario: str | None, as_yaml: bool, as_json: bool, schema: bool, truth_schema: bool
) -> None:
    """List the presets, or explain one of them or a scenario FILE: every field with its value.

    A name with a dot or a slash in it is a file.
    """
    from ..scenario import presets, run_schema, to_document, to_yaml

    if as_yaml + as_json + schema + truth_schema > 1:
        raise click.UsageError("--yaml, --json, --schema and --truth-schema exclude each other")
    if schema or truth_schema:
        if scenario is not None:
            raise click.UsageError("a schema describes all scenarios; expected no name")
        from ..truth.document import schema as schema_of_truth

        found = run_schema().value if schema else schema_of_truth()
        click.echo(json.dumps(found, indent=2))
    elif scenario is None:
        if as_yaml:
            raise click.UsageError("--yaml prints one scenario; expected its name")
        rows = [_row(one) for one in presets().values()]
        if as_json:
            click.echo(json.dumps(rows, indent=2))
        else:
            headers = ("scenario", "product", "ranks", "steps", "faults", "for")
            print_columns(headers, [tuple(map(str, row.values())) for row in rows])
    else:
        chosen = named(scenario)
        if as_yaml:
            click.echo(_text(scenario, to_yaml(chosen)), nl=False)
        elif as_json:
            click.echo(json.dumps(to_document(chosen, defaults=True), indent=2))
        else:
            _explain(chosen)


def named(text: str) -> Scenario:
    """The preset of this name, or the scenario in this file."""
    from ..scenario import load, preset

    return load(text) if is_file(text) else preset(text)


def is_file(text: str) -> bool:
    """Whether a word stands for a file: no preset has a dot or a slash in its name."""
    return any(mark in text for mark in "./\\")


def _row(scenario: Scenario) -> dict[str, str | int]:
    return {
        "scenario": scenario.name,
        "product": scenario.hardware.product,
        "ranks": scenario.parallelism.ranks,
        "steps": scenario.schedule.active * scenario.schedule.repeat,
        "faults": len(scenario.faults),
        "for": scenario.summary,
    }


def _text(name: str, document: str) -> str:
    """A preset as it was written; a file as it was understood."""
    from ..scenario import preset_text

    return document if is_file(name) else preset_text(name)


def _explain(scenario: Scenario) -> None:
    click.echo(f"{scenario.name}: {scenario.summary}\n" if scenario.summary else scenario.name)
    print_columns(("field", "value", "from", "unit", "meaning"), list(_fields(scenario)))


def _fields(scenario: Scenario) -> Iterator[tuple[str, ...]]:
    """Every field that the scenario reads: name, value, a mark for the default, unit, meaning."""
    from ..scenario import SECTIONS, run_schema, to_document

    document, schema = to_document(scenario, defaults=True), run_schema()
    for section in SECTIONS:
        values = document[section]
        names = schema.read_by(section, values["kind"]) if section == "model" else tuple(values)
        for name in names:
            yield _field(f"{section}.{name}", values[name], schema.fields(section)[name])
    for place, fault in enumerate(document["faults"]):
        for name in schema.read_by("fault", fault["kind"]):
            yield _field(f"faults[{place}].{name}", fault[name], schema.fields("fault")[name])


def _field(path: str, value: Any, schema: Any) -> tuple[str, ...]:
    mark = "default" if "default" in schema and value == schema["default"] else ""
    return path, json.dumps(value).strip('"'), mark, schema.get("x-unit", ""), schema["description"]
