"""Every preset on every product, level and output: no rule of text deliverables objects.

Models and runs are made small: what differs between the cells is which files, columns, layers and
values there are, and not how many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import get_args

import pytest
from simulated_folders import FORMATS, findings

from ascend_simulator import write_run
from ascend_simulator.choices import FaultChoice, Parallelism, ProductName, Scenario
from ascend_simulator.scenario import override, preset, preset_names
from ascend_spec.text import Output

WITHOUT_BF16 = ("910A", "310P")
TRANSFORMERS = ("dense-transformer", "moe", "llm-inference")


def small(name: str, product_name: ProductName, level: int) -> Scenario:
    """One step of two ranks at most, with a small model that the product can run."""
    found = override(preset(name), steps=2 if name == "troubled" else 1, level=level)
    model = found.model
    if model.kind in TRANSFORMERS:
        size = {"layers": min(model.layers, 2), "hidden": 1024, "heads": 8, "vocabulary": 4000}
        model = replace(model, **size)
    if model.kind == "moe":
        model = replace(model, experts=4)
    if product_name in WITHOUT_BF16 and model.data_type == "DT_BF16":
        model = replace(model, data_type="FLOAT16")
    return replace(
        found,
        model=model,
        hardware=replace(found.hardware, product=product_name),
        parallelism=_two_ranks(found.parallelism),
        faults=tuple(map(_of_two_ranks, found.faults)),
    )


def _two_ranks(whole: Parallelism) -> Parallelism:
    ranks = min(whole.ranks, 2)
    pipeline = min(whole.pipeline, ranks)
    tensor = min(whole.tensor, ranks // pipeline)
    return replace(
        whole,
        ranks=ranks,
        pipeline=pipeline,
        tensor=tensor,
        expert=ranks // (tensor * pipeline) if whole.expert > 1 else 1,
        devices_per_process=min(whole.devices_per_process, ranks),
    )


def _of_two_ranks(fault: FaultChoice) -> FaultChoice:
    return replace(
        fault,
        ranks=tuple(dict.fromkeys(rank % 2 for rank in fault.ranks)),
        link=(0, 1) if fault.link else None,
        steps=(1, 2) if fault.steps else None,
    )


def cells() -> Iterator[object]:
    """Every preset, product, level and output; the exhaustive run takes one of every third preset.

    These hold every product.
    """
    sizes = preset_names(), get_args(ProductName), (0, 1, 2), tuple(FORMATS)
    for places in product(*(range(len(size)) for size in sizes)):
        name, product_name, level, output = places
        turn, half = divmod(name, 3)
        drawn = half == 0 and (product_name, level, output) == (turn % 6, turn % 3, turn % 2)
        mark = pytest.mark.exhaustive if drawn else pytest.mark.campaign
        yield pytest.param(*(size[i] for size, i in zip(sizes, places, strict=True)), marks=mark)


def test_the_exhaustive_run_holds_every_product_level_and_output() -> None:
    tried = [one.values for one in cells() if pytest.mark.exhaustive in one.marks]
    _, products, levels, outputs = map(set, zip(*tried, strict=True))
    assert products == set(get_args(ProductName))
    assert levels == {0, 1, 2}
    assert outputs == set(FORMATS)


@pytest.mark.parametrize(("name", "product_name", "level", "output"), list(cells()))
def test_nothing_is_wrong_on_any_product(
    name: str, product_name: ProductName, level: int, output: Output, tmp_path: Path
) -> None:
    run = write_run(small(name, product_name, level), 0, tmp_path / "run", FORMATS[output])
    for profile in run.profiles:
        assert list(findings(profile)) == []
