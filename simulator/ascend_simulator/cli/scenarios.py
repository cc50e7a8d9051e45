"""``ascend-ref scenarios``: list the presets, and explain what a scenario says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import click

from ascend_ref.cli.console import print_columns
from ascend_ref.cli.suggest import unknown

from .presets import KINDS, PresetOrFile, is_file, kind_of_scenario, scenario_of


@click.command()
@click.argument(
    "scenario", required=False, metavar="[PRESET|FILE]", type=PresetOrFile("run", "kernel")
)
@click.option(
    "--of",
    "kind",
    type=click.Choice(KINDS),
    help="Scenarios of runs (simulate) or of kernels (kernel) only. A FILE and the schemas are of "
    "runs unless this says otherwise.",
)
@click.option("--yaml", "as_yaml", is_flag=True, help="Print the document, to copy and edit.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of scenarios.")
@click.option("--truth-schema", is_flag=True, help="Print the JSON Schema of truth.json.")
def scenarios(
    scenario: str | None,
    kind: str | None,
    as_yaml: bool,
    as_json: bool,
    schema: bool,
    truth_schema: bool,
) -> None:
    """List the presets, or explain one of them or a scenario FILE: every field with its value.

    A name with a dot or a slash in it is a file.
    """
    if as_yaml + as_json + schema + truth_schema > 1:
        raise click.UsageError("--yaml, --json, --schema and --truth-schema exclude each other")
    if schema or truth_schema:
        if scenario is not None:
            raise click.UsageError("a schema describes all scenarios; expected no name")
        found = kind_of_scenario(kind or "run").schema().value if schema else _truth_schema(kind)
        click.echo(json.dumps(found, indent=2))
    elif scenario is None:
        if as_yaml:
            raise click.UsageError("--yaml prints one scenario; expected its name")
        _list((kind,) if kind else KINDS, as_json)
    else:
        _show(scenario, kind or _kind(scenario), as_yaml, as_json)


def _kind(scenario: str) -> str:
    """Of what a preset is; a file is of a run."""
    if is_file(scenario):
        return "run"
    names = {name: kind for kind in KINDS for name in kind_of_scenario(kind).preset_names()}
    if scenario not in names:
        text = unknown("preset", scenario, names)
        raise click.UsageError(f"{text} (see ascend-ref scenarios)")
    return names[scenario]


def _list(kinds: tuple[str, ...], as_json: bool) -> None:
    rows = {kind: [_row(kind, one) for one in _presets(kind)] for kind in kinds}
    if as_json:
        click.echo(json.dumps([row for kind in kinds for row in rows[kind]], indent=2))
        return
    for place, kind in enumerate(kinds):
        if place:
            click.echo()
        headers = tuple(rows[kind][0])
        print_columns(headers, [tuple(map(str, row.values())) for row in rows[kind]])


def _presets(kind: str) -> Iterator[dict[str, Any]]:
    """The presets of a kind as documents, in the order of lists."""
    scenarios = kind_of_scenario(kind)
    for one in scenarios.presets().values():
        yield scenarios.to_document(one, defaults=True)


def _row(kind: str, document: Mapping[str, Any]) -> dict[str, str | int]:
    """A preset for a list."""
    if kind == "run":
        schedule = document["schedule"]
        own = {
            "product": document["hardware"]["product"],
            "ranks": document["parallelism"]["ranks"],
            "steps": schedule["active"] * schedule["repeat"],
            "faults": len(document["faults"]),
        }
    else:
        own = {
            "operator": document["operator"]["kind"],
            "chip": document["device"]["chip"],
            "mode": document["capture"]["mode"],
        }
    return {"scenario": document["name"], "of": kind, **own, "for": document["summary"]}


def _show(name: str, kind_name: str, as_yaml: bool, as_json: bool) -> None:
    kind = kind_of_scenario(kind_name)
    chosen = scenario_of(kind, name)
    if as_yaml:
        # A preset as it was written, a file as it was understood.
        click.echo(kind.to_yaml(chosen) if is_file(name) else kind.preset_text(name), nl=False)
        return
    document = kind.to_document(chosen, defaults=True)
    if as_json:
        click.echo(json.dumps(document, indent=2))
        return
    title, summary = document["name"], document["summary"]
    click.echo(f"{title}: {summary}\n" if summary else title)
    print_columns(("field", "value", "from", "unit", "meaning"), list(_fields(kind_name, document)))


def _fields(kind: str, document: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Every field that the scenario reads: name, value, a mark for the default, unit, meaning."""
    schema = kind_of_scenario(kind).schema()
    for section, values in document.items():
        if section == "faults":
            for place, fault in enumerate(values):
                for name in schema.read_by("fault", fault["kind"]):
                    yield _field(
                        f"faults[{place}].{name}", fault[name], schema.fields("fault")[name]
                    )
        elif isinstance(values, dict):
            chosen = "allOf" in schema.value["$defs"][section]
            names = schema.read_by(section, values["kind"]) if chosen else tuple(values)
            for name in names:
                yield _field(f"{section}.{name}", values[name], schema.fields(section)[name])


def _field(path: str, value: Any, schema: Any) -> tuple[str, ...]:
    mark = "default" if "default" in schema and value == schema["default"] else ""
    return path, json.dumps(value).strip('"'), mark, schema.get("x-unit", ""), schema["description"]


def _truth_schema(kind: str | None) -> dict[str, Any]:
    if kind == "kernel":
        from ..operator.truth import truth_schema

        return truth_schema()
    from ..truth import schema

    return schema()
