"""Simulated jobs of MindSpore's profiler, and what their intermediate files show, read by hand."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from ascend_ref.mindspore.analyse.factory import load_analyser
from ascend_ref.mindspore.analyse.files import Folder
from ascend_ref.mindspore.parse.parse import Parsed, parse
from ascend_simulator.choices import (
    FaultChoice,
    HardwareChoice,
    ModelChoice,
    Parallelism,
    Scenario,
    Schedule,
)
from ascend_simulator.run import Run, write_run
from ascend_spec import mindspore_catalog
from ascend_spec.core import DAYS

PER_MS = 100_000

TRAINING = Scenario(
    name="training",
    hardware=HardwareChoice(product="910A"),
    model=ModelChoice(kind="cnn", image=64, channels=8, batch=2, preprocess="device"),
    parallelism=Parallelism(ranks=2),
    schedule=Schedule(active=4),
)
SERVING = Scenario(
    name="serving",
    model=ModelChoice(kind="llm-inference", layers=1, hidden=256, heads=4, prompt=16, generate=2),
    schedule=Schedule(active=3),
)


class Job(NamedTuple):
    """A job with its truth and its intermediate files."""

    truth: Mapping[str, Any]
    parsed: Parsed
    folder: Path

    @property
    def device(self) -> str:
        return str(self.truth["device"])

    @property
    def day(self) -> str:
        return str(self.truth["day"])

    def way(self, method: str) -> str:
        return mindspore_catalog().methods[method].way_on(self.day)

    def makes(self, table: str) -> bool:
        return DAYS.in_force(mindspore_catalog().tables[table], self.day)

    def find(self, table: str) -> Path | None:
        return Folder(self.folder, self.device).find(table)

    def rows(self, table: str) -> list[list[str]]:
        path = self.find(table)
        if path is None:
            return []
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.reader(file))

    def ask(self, analyser: str, filters: Any = None) -> Any:
        asked = {"filter_condition": filters} if filters else None
        folder = Folder(self.folder, self.device)
        return load_analyser(analyser, folder, self.day).query(asked)


def written(
    folder: Path, scenario: Scenario, day: str, form: str = "mindspore-raw", seed: int = 3
) -> Run:
    return write_run(scenario, seed, folder / "run", (form,), generation=day)


def jobs(
    folder: Path, scenario: Scenario, day: str, form: str = "mindspore-raw", seed: int = 3
) -> Iterator[Job]:
    """The jobs of a run as the parsers of the day read them."""
    run = written(folder, scenario, day, form, seed)
    for number, truth in enumerate(run.truths):
        for place, one in enumerate(json.loads(truth.read_text())["jobs"]):
            target = folder / f"parsed_{number}_{place}"
            found = parse(truth.parent / one["path"], target, day)
            for parsed in found:
                if parsed.capture.device == str(one["device"]):
                    yield Job(one, parsed, target)


def with_faults(scenario: Scenario, *faults: FaultChoice) -> Scenario:
    return replace(scenario, faults=faults)


def operator_times(job: Job) -> dict[str, float]:
    """ms of each operator by its name, of lines or of a drawn table."""
    path = job.find("output_op_compute_time")
    if path is None:
        return {}
    lines = [line.split() for line in path.read_text().splitlines()]
    rows = [line for line in lines if len(line) > 2 and "/" in line[0]]
    return {row[0]: float(row[1]) for row in rows}


def expected_types(job: Job) -> dict[str, tuple[Fraction, int]]:
    """ms and how often of each type of operators, by the way of the day."""
    averages = job.way("type_times") == "averages"
    found: dict[str, tuple[Fraction, int]] = {}
    for one in job.truth["operators"]:
        ticks = Fraction(one["ticks"], one["executions"] if averages else 1)
        time, count = found.get(one["type"], (Fraction(0), 0))
        more = 1 if averages else one["executions"]
        found[one["type"]] = time + ticks / PER_MS, count + more
    return found


def steps_of(job: Job) -> list[dict[str, Any]]:
    """The steps of step_trace_raw, without the average, in the form of the truth."""
    header, *rows = job.rows("step_trace_raw") or [[]]
    found = []
    for row in rows[:-1]:
        cells = dict(zip(header, map(int, row), strict=False))
        bp = cells.get("bp_point", cells["end_point"])
        assert cells["total"] == cells["end_point"] - cells["start_point"]
        assert cells["iteration_interval"] == cells["fp_point"] - cells["start_point"]
        if "bp_point" in cells:
            assert cells["fp_and_bp"] == bp - cells["fp_point"]
            assert cells["tail"] == cells["end_point"] - bp
        names = [one for one in cells if one.startswith("stream_") and one.endswith("_start_point")]
        ends = {one: one.removesuffix("_start_point") + "_end_point" for one in names}
        reductions = sorted(
            (cells[name], cells[end]) for name, end in ends.items() if cells[name] and end in cells
        )
        found.append(
            {
                "step": cells["step_num"],
                "start": cells["start_point"],
                "fp": cells["fp_point"],
                "bp": bp if "bp_point" in cells else None,
                "end": cells["end_point"],
                "reductions": reductions,
            }
        )
    return found


def true_steps(job: Job, *, is_training: bool) -> list[dict[str, Any]]:
    """The same of the truth, without the reductions that columns of the first row do not have, and
    those of the last columns of a row of an inference, of whose cells the last two become one.
    """
    columns = mindspore_catalog().tables["step_trace_raw"].columns_on(job.day)
    named = any("{name}" in one.name or "{operator}" in one.name for one in columns)
    growing = job.way("step_columns") == "growing"
    header: dict[tuple[object, ...], None] = {}
    found: list[dict[str, Any]] = []
    for one in job.truth["steps"]:
        keyed: dict[tuple[object, ...], tuple[int, int]] = {}
        counted: Counter[object] = Counter()
        for each in one["reductions"]:
            stream = each["stream"]
            key = (stream, counted[stream], each["operator"] if named else None)
            counted[stream] += 1
            keyed[key] = each["start"], each["end"]
        if growing or not found:
            header |= dict.fromkeys(keyed)
        lost = None if is_training else next(reversed(header), None)
        reductions = sorted(time for key, time in keyed.items() if key in header and key != lost)
        bp = one["bp"] if is_training else None
        found.append({**one, "bp": bp, "reductions": reductions})
    return found
