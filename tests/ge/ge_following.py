"""What a simulated run has, by address, and what its program does; asked of files alone."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from ascend_ref.raw.tree import kind_of
from ascend_simulator import write_run
from ascend_simulator.choices import Scenario
from ascend_simulator.scenario import parse
from ascend_simulator.scenario.profiling_options import asked_by
from ascend_spec import catalog, layout_catalog, timeline_catalog

PRODUCTS = ("A2", "A3", "910A", "310P", "200I-500-A2", "950")
"""Those that are simulated."""
EVERYTHING = """
name: everything
model: {kind: cnn, batch: 2, image: 32, channels: 8, graph: true, preprocess: device}
parallelism: {ranks: 2}
schedule: {active: 2}
"""
"""A program that does all that the simulator's programs do."""

NEVER_DONE = frozenset(
    [
        "has operators with attributes that the framework reports",
        "runs on a chip with vector cores apart",
    ]
)
DONE_ON: Mapping[str, frozenset[str]] = {
    "runs collectives": frozenset(["A2", "A3", "910A", "950"]),
    "has tasks that consist of sub-tasks": frozenset(["A2", "A3"]),
}
"""What this program does on some products alone: those for inference train with no others."""


def does(phrases: tuple[str, ...], product: str) -> bool:
    """Whether the program does one of these."""
    return not phrases or any(
        one not in NEVER_DONE and product in DONE_ON.get(one, PRODUCTS) for one in phrases
    )


@cache
def everything(product: str) -> Scenario:
    """The program on a product."""
    return parse(f'{EVERYTHING}hardware: {{product: "{product}"}}\n')


def written(folder: Path, product: str, options: Mapping[str, object]) -> dict[str, list[str]]:
    """What a run that is collected by options has, by address; of CSV files their headers."""
    scenario, _ = asked_by(everything(product), json.dumps(options))
    write_run(scenario, 0, folder / "exported", ("msprof-db", "csv", "timeline"))
    write_run(scenario, 0, folder / "raw", ("raw",))
    found = dict[str, list[str]]()
    for path in sorted((folder / "exported").rglob("*")):
        if path.is_file():
            found |= dict(_held(path))
    for path in sorted((folder / "raw").rglob("*")):
        kind = kind_of(path) if path.is_file() else None
        if kind is not None:
            found[f"raw/{kind.file}"] = []
    return found


def _held(path: Path) -> Iterator[tuple[str, list[str]]]:
    match = layout_catalog().match(path.name)
    if path.suffix == ".db":
        with closing(sqlite3.connect(path)) as connection:
            query = "SELECT name FROM sqlite_schema WHERE type = 'table'"
            for (name,) in connection.execute(query).fetchall():
                if name not in catalog().enums:
                    columns = connection.execute(f'SELECT * FROM "{name}" LIMIT 0').description
                    yield f"table/{name}", [one[0] for one in columns]
    elif match is not None and match.file.id == "csv":
        with path.open(newline="", encoding="utf-8") as file:
            yield f"csv/{match.called}", next(csv.reader(file))
    elif match is not None and match.file.id == "timeline":
        yield f"timeline/{match.called}", []
        if match.called == "timeline":
            for name in _layers(json.loads(path.read_bytes())):
                yield f"layer/{name}", []


def _layers(events: list[dict[str, Any]]) -> set[str]:
    """The layers that have an event of their own."""
    named = {
        one["pid"]: str(one["args"]["name"])
        for one in events
        if one["ph"] == "M" and one["name"] == "process_name"
    }
    used = {one.get("pid") for one in events if one["ph"] != "M"}
    return {_layer(name) for pid, name in named.items() if pid in used}


def _layer(process: str) -> str:
    layers = timeline_catalog().layers
    forms = {one.name: one.form for one in layers.values() if one.form and one.form.fits(process)}
    if process in layers:
        return process
    return max(forms, key=lambda name: len(forms[name].template), default=process)
