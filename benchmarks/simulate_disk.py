"""How fast profiles come about on disk, against the bulk load of rows that are there already."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from lines import REPEATS, Line
from simulate_memory import DENSE, SEED, with_steps

from ascend_ref.db.encode import encode
from ascend_ref.db.writer import write_database
from ascend_simulator.choices import Scenario
from ascend_simulator.run import capture, prepare, write_run
from ascend_spec import catalog
from ascend_spec.db.model import Carrier

CARRIERS: tuple[Carrier, ...] = ("pytorch", "analysis")
"""The databases of a rank's profile."""


def from_scenario(scenario: Scenario, folder: Path) -> float:
    """Seconds from the scenario to the profiles of all ranks."""
    out = folder / "run"
    started = time.perf_counter()
    write_run(scenario, SEED, out)
    seconds = time.perf_counter() - started
    shutil.rmtree(out)
    return seconds


def from_rows(scenario: Scenario, folder: Path) -> tuple[float, int]:
    """Seconds of loading the rows of the same databases, and their number."""
    schemas = [catalog().at(catalog().revisions[-1].id, carrier) for carrier in CARRIERS]
    shared = prepare(scenario, SEED)
    path = folder / "loaded.db"
    seconds, rows = 0.0, 0
    for rank in range(scenario.parallelism.ranks):
        made = capture(shared, rank)
        for schema in schemas:
            tables = encode(made, schema)
            rows += sum(len(next(iter(columns.values()))) for columns in tables.values())
            started = time.perf_counter()
            write_database(path, schema, tables)
            seconds += time.perf_counter() - started
            path.unlink()
    return seconds, rows


def measure_disk(folder: Path) -> Iterator[Line]:
    """Rate to finished databases against that of the bulk load alone."""
    scenario = with_steps(DENSE, DENSE.schedule.active // 5)
    times = [(from_scenario(scenario, folder), from_rows(scenario, folder)) for _ in range(REPEATS)]
    ours = min(seconds for seconds, _ in times)
    load, rows = min(loaded for _, loaded in times)
    yield Line(
        f"scenario to databases, {rows:,} rows",
        load / ours,
        0.7,
        "x",
        False,
        f"bulk load of the same rows {load:.1f} s, ours {ours:.1f} s",
    )
