"""Simulated profiles of both outputs with their databases: no rule of text deliverables objects.

What is allowed is what real exporters write as well, and what errata tell. The cells are those of
presets, products and levels that differ most in which files, columns and layers they have; the
files that are there are compared with what the spec says that they should be.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
from simulated_folders import FORMATS, findings
from slices import marked, some

from ascend_ref.profile import write_msprof_profile, write_pytorch_profile
from ascend_simulator import simulate, write_run
from ascend_simulator.choices import FaultChoice, ProductName, Scenario
from ascend_simulator.scenario import override, preset, preset_names
from ascend_spec import catalog, text_catalog
from ascend_spec.text import Output


class Cell(NamedTuple):
    """ranks: of the run, all in one process; the first profile of it is judged."""

    preset: str
    product: ProductName
    level: int
    output: Output
    ranks: int = 1


CELLS = (
    Cell("recommendation", "910A", 0, "msprof", 2),
    Cell("recommendation", "950", 1, "pytorch", 2),
)
FURTHER = (
    Cell("llm-inference", "A3", 0, "pytorch", 2),
    Cell("text-museum", "200I-500-A2", 2, "pytorch"),
    Cell("cnn-910b", "A3", 2, "msprof", 2),
    Cell("dense-pipeline", "310P", 1, "pytorch", 2),
)


def shaped(cell: Cell) -> Scenario:
    found = override(preset(cell.preset), steps=1, level=cell.level)
    stages = 2 if cell.preset == "dense-pipeline" else 1
    together = cell.ranks if cell.output == "msprof" else 1
    split = replace(
        found.parallelism,
        ranks=cell.ranks,
        tensor=1,
        pipeline=stages,
        devices_per_process=together,
    )
    model = found.model
    if cell.product in ("910A", "310P"):
        model = replace(model, data_type="FLOAT16")
    hardware = replace(found.hardware, product=cell.product)
    return replace(found, parallelism=split, hardware=hardware, model=model)


@pytest.mark.parametrize(
    "cell",
    [*CELLS, *(pytest.param(one, marks=pytest.mark.campaign) for one in FURTHER)],
    ids=lambda one: "-".join(map(str, one[:4])),
)
def test_nothing_is_wrong(cell: Cell, tmp_path: Path) -> None:
    run = write_run(shaped(cell), 0, tmp_path / "run", FORMATS[cell.output])
    assert list(findings(run.profiles[0])) == []


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("name", "output", "level"),
    [
        marked(
            (name, output, level),
            pytest.mark.exhaustive
            if at % 4 == 1 and (turn, level) == (at // 4 % 2, at % 3)
            else pytest.mark.campaign,
        )
        for at, name in enumerate(preset_names())
        for turn, output in enumerate(FORMATS)
        for level in (0, 1, 2)
    ],
)
def test_nothing_is_wrong_with_any_preset(
    name: str, output: Output, level: Literal[0, 1, 2], tmp_path: Path
) -> None:
    scenario = preset(name)
    scenario = replace(scenario, capture=replace(scenario.capture, level=level))
    capture, newest = simulate(scenario).capture(0), catalog().revisions[-1].id
    if output == "pytorch":
        profile = write_pytorch_profile(tmp_path, capture, newest, ("db", "text"))
    else:
        profile = write_msprof_profile(tmp_path, [capture], newest, ("db", "csv", "timeline"))
    assert list(findings(profile)) == []


@pytest.mark.exhaustive
def test_a_clock_that_is_slow_in_every_step(tmp_path: Path) -> None:
    """The nominal one, by which cube_utilization is told, stands before the first step."""
    scenario = override(preset("edge-310b"), steps=1, level=1)
    scenario = replace(scenario, faults=(FaultChoice("frequency-throttling", frequency=800),))
    run = write_run(scenario, 0, tmp_path / "run", FORMATS["msprof"])
    assert list(findings(run.profiles[0])) == []


@pytest.mark.exhaustive
def test_devices_of_a_process_have_clocks_of_their_own(tmp_path: Path) -> None:
    scenario = shaped(Cell("recommendation", "A2", 1, "msprof", 2))
    fault = FaultChoice("frequency-throttling", ranks=(0,), frequency=800)
    run = write_run(replace(scenario, faults=(fault,)), 0, tmp_path / "run", FORMATS["msprof"])
    assert list(findings(run.profiles[0])) == []


@pytest.mark.parametrize("product", ["A2", "910A"])
def test_level_0_counts_no_communication_of_unknown_types(
    product: ProductName, tmp_path: Path
) -> None:
    scenario = shaped(Cell("recommendation", product, 0, "msprof", 2))
    run = write_run(scenario, 0, tmp_path / "run", ("csv",))
    names = {path.name.rpartition("_")[0] for path in run.profiles[0].rglob("*.csv")}
    assert "op_summary" in names
    assert "communication_statistic" not in names


WITHOUT: Mapping[str, set[str]] = {
    "A2": set(),
    "A3": set(),
    "910A": set(),
    "310P": {"communication_statistic"},
    "200I-500-A2": {"communication_statistic", "ai_vector_core_utilization"},
    "950": set(),
}
"""Files of the spec that the simulated machine has nothing for: one core for cubes and vectors.
Nobody trains on 310P and 200I/500 A2.
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("product", some(WITHOUT, every=3))
def test_every_file_of_a_product_is_written(product: ProductName, tmp_path: Path) -> None:
    ranks = 1 if "communication_statistic" in WITHOUT[product] else 2
    for output, forms in (("msprof", ("csv",)), ("pytorch", ("pytorch-text",))):
        run = write_run(
            shaped(Cell("text-museum", product, 2, output, ranks)), 0, tmp_path / output, forms
        )
        engine = "cpp" if catalog().products[product].can("native-export") else "python"
        writers = {"pytorch": {"adapter"}, "msprof": {engine, "python"}}[output]
        due = {
            file.modules[output]
            for name, file in text_catalog().csv.items()
            if output in file.modules
            and product in file.families
            and not writers.isdisjoint(file.writers)
            and name not in WITHOUT[product]
        }
        (folder,) = {path.parent for path in run.profiles[0].rglob("*.csv")}
        found = {path.stem.removesuffix("_20260101170000") for path in folder.glob("*.csv")}
        assert found == due


@pytest.mark.exhaustive
def test_a_value_of_a_counter_that_the_product_lacks_is_found(tmp_path: Path) -> None:
    """200I/500 A2 cannot count vector instructions: "not supported, N/A" (seed 001, op_summary)."""
    scenario = shaped(Cell("edge-310b", "200I-500-A2", 1, "msprof", 1))
    (profile,) = write_run(scenario, 0, tmp_path / "run", ("csv",)).profiles
    (path,) = profile.rglob("op_summary_*.csv")
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    place, other = header.index("vec_time(us)"), header.index("scalar_time(us)")
    counted = next(row for row in rows if row[other] != "N/A")
    assert counted[place] == "N/A"
    assert list(findings(profile)) == []
    counted[place] = "0.5"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    assert ("CSV027", "op_summary.csv: vec_time(us)") in [one[:2] for one in findings(profile)]
