"""The stage from a database to CSV files, timelines and JSON documents."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from ascend_ref.db.carrier import carrier_of_name
from ascend_ref.profile.export import databases, export_database
from ascend_simulator.scenario import Scenario
from ascend_spec import catalog, text_catalog, timeline_catalog

from ..media.text.deliverables import Deliverable
from ..media.text.layers import STEP_TRACE
from .case import Case
from .files import texts_below
from .writing import write_profile

FORMATS = {"pytorch": ("pytorch-db", "pytorch-text"), "msprof": ("msprof-db", "csv", "timeline")}
IN_NO_DATABASE = ("host_cpu_usage", "host_mem_usage", "host_network_usage")
"""CSV files that show how many processors, how much memory or what network card a host has."""
CHIP_LINKS = "Stars Chip Trans"
"""The layer of the links between chips."""
OPERATORS = ("COMPUTE_TASK_INFO", "COMMUNICATION_OP")


def make(case: Case, folder: Path, writer: str | None = None) -> None:
    """Simulate a case: its database below ``input``, what is true of it below ``expected``.

    The truth is written from the recording itself, not from the database.
    """
    held_case = replace(case, scenario=held(case.scenario))
    profile = write_profile(held_case, folder / "run", FORMATS[case.output], writer)
    expected = folder / "expected"
    expected.mkdir()
    for one in list(texts_below(profile)):
        if is_in_databases(one):
            shutil.move(one.path, expected / one.path.name)
        else:
            one.path.unlink()  # no database shows it
    for readme in profile.rglob("README.txt"):
        readme.unlink()
    (folder / "input").mkdir()
    shutil.move(profile, folder / "input" / profile.name)
    shutil.rmtree(folder / "run")


def held(scenario: Scenario) -> Scenario:
    """A scenario without what a product has in timelines and CSV files alone: counters of tasks,
    the load of links between chips, and what cores did.
    """
    capture, product = replace(scenario.capture, instr=0), scenario.hardware.product
    if product in timeline_catalog().layers[CHIP_LINKS].families:
        capture = replace(capture, sys_interconnection=0)
    by_task = capture.aic_mode == "task-based"
    if by_task and product not in catalog().tables["TASK_PMU_INFO"].products:
        capture = replace(capture, aic_metrics=None)
    return replace(scenario, capture=capture)


def is_in_databases(one: Deliverable) -> bool:
    """Whether a database holds what a file shows."""
    if one.kind == "csv":
        return bool(text_catalog().csv[one.name].tables) and one.name not in IN_NO_DATABASE
    return one.name != STEP_TRACE


def can_be_drawn(case: Case) -> bool:
    """Whether a database holds all that the files of a case show.

    Iterations of a graph are in none. Which group the cores were sampled for is in none either; the
    names of its metrics show it, but of the other groups a simulated database has too few. Nor is
    the rated clock, which timelines of a product with no other show.
    """
    capture, product = case.scenario.capture, case.scenario.hardware.product
    if capture.npu and _shows_rated_clock(product):
        return False
    sampled = capture.aic_mode == "sample-based" and capture.aic_metrics is not None
    return not case.scenario.model.graph and not (
        sampled and capture.aic_metrics != "PipeUtilization"
    )


def _shows_rated_clock(product: str) -> bool:
    clocks = timeline_catalog().layers["AI Core Freq"]
    return product in clocks.families and product not in catalog().tables["AICORE_FREQ"].products


def reference(source: Path, target: Path) -> None:
    """Our own export of the database in a folder."""
    (database,) = databases(source)
    export_database(database, target / "text")


def operators(folder: Path) -> int:
    """How many operators the input of a case holds."""
    found = 0
    for path in folder.joinpath("input").rglob("*.db"):
        if carrier_of_name(path.name)[0] in ("pytorch", "msprof"):
            with _open(path) as database:
                for table in _names(database).intersection(OPERATORS):
                    found += int(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    return found


def _open(path: Path) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True))


def _names(database: sqlite3.Connection) -> set[str]:
    return {
        name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'")
    }
