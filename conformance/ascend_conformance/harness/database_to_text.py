"""The stage from a database to CSV files, timelines and JSON documents."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from ascend_ref.db.carrier import carrier_of_name
from ascend_ref.profile.export import databases, export_database
from ascend_ref.timeline.recognition import STEP_TRACE
from ascend_simulator.scenario import Scenario
from ascend_spec import catalog, text_catalog, timeline_catalog

from ..difference.files import texts_below
from ..media.text.deliverables import Deliverable
from .case import Case
from .writing import write_profile

FORMATS = {"pytorch": ("pytorch-db", "pytorch-text"), "msprof": ("msprof-db", "csv", "timeline")}
IN_NO_DATABASE = ("host_cpu_usage", "host_mem_usage", "host_network_usage")
"""CSV files that show how many processors, how much memory or what network card a host has."""
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
            if one.kind != "csv" and one.name in timeline_catalog().files:
                leave_out_layers(one.path)
            shutil.move(one.path, expected / one.path.name)
        else:
            one.path.unlink()  # no database shows it
    for readme in profile.rglob("README.txt"):
        readme.unlink()
    (folder / "input").mkdir()
    shutil.move(profile, folder / "input" / profile.name)
    shutil.rmtree(folder / "run")


def held(scenario: Scenario) -> Scenario:
    """A scenario without the counters of products that have them in text files alone."""
    by_task = scenario.capture.aic_mode == "task-based"
    if not by_task or scenario.hardware.product in catalog().tables["TASK_PMU_INFO"].products:
        return scenario
    return replace(scenario, capture=replace(scenario.capture, aic_metrics=None))


def is_in_databases(one: Deliverable) -> bool:
    """Whether a database holds what a file shows."""
    if one.kind == "csv":
        return bool(text_catalog().csv[one.name].tables) and one.name not in IN_NO_DATABASE
    return one.name != STEP_TRACE


class _Event(msgspec.Struct):
    """What shows to which layer an event belongs."""

    ph: str = ""
    name: str = ""
    pid: int = 0
    args: dict[str, Any] = {}


def leave_out_layers(path: Path) -> None:
    """Take layers that no table shows out of a timeline."""
    texts = msgspec.json.decode(path.read_bytes(), type=list[msgspec.Raw])
    events = [msgspec.json.decode(one, type=_Event) for one in texts]
    stated = {"process_name": "name", "process_labels": "labels"}
    facts = {
        (one.pid, one.name): one.args[stated[one.name]]
        for one in events
        if one.ph == "M" and one.name in stated
    }
    gone = {
        pid
        for (pid, what), name in facts.items()
        if what == "process_name" and not _is_held(name, facts.get((pid, "process_labels"), ""))
    }
    if gone:
        kept = [bytes(text) for text, one in zip(texts, events, strict=True) if one.pid not in gone]
        path.write_bytes(b"[" + b",".join(kept) + b"]")


def _is_held(process: str, label: str) -> bool:
    """Whether a table shows the layer of a process."""
    known = timeline_catalog()
    layers = (known.layer_of(process, label, writer) for writer in known.forms)
    layer = next((one for one in layers if one is not None), None)
    return layer is None or len(layer.tables) > 0


def can_be_drawn(case: Case) -> bool:
    """Whether a database holds all that the files of a case show.

    Iterations of a graph are in none. Which group the cores were sampled for is in none either; the
    names of its metrics show it, but of the other groups a simulated database has too few.
    """
    capture = case.scenario.capture
    sampled = capture.aic_mode == "sample-based" and capture.aic_metrics is not None
    return not case.scenario.model.graph and not (
        sampled and capture.aic_metrics != "PipeUtilization"
    )


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
