"""The network of the real profiles (Ascend910B, 2025-01), kernel by kernel."""

from __future__ import annotations

import re
import sqlite3
from functools import cache
from pathlib import Path
from statistics import mean, median

import numpy as np
import pytest

from ascend_simulator.choices import HardwareChoice, ModelChoice, Parallelism
from ascend_simulator.hardware import machine
from ascend_simulator.program import build
from ascend_simulator.program.counters import metric_names, metric_values
from ascend_simulator.program.model import Collective, Kernel, Launch, Program

PROFILE = Path("data", "db", "level1_rank1", "ascend_pytorch_profiler_1.db")
REAL = Path(__file__).parents[2].resolve() / ".." / "shared" / PROFILE
COLUMNS = (
    "name", "op_type", "core", "input_shapes", "input_data_types", "input_formats",
    "output_shapes", "output_data_types", "output_formats",
)  # fmt: skip
QUERY = """
    SELECT c.globalTaskId, t.endNs - t.startNs, c.blockDim, t.streamId, n.value, o.value, k.value,
        i.value, d.value, f.value, os.value, od.value, of.value, tt.value
    FROM COMPUTE_TASK_INFO c JOIN TASK t USING (globalTaskId)
    JOIN STRING_IDS n ON n.id = c.name JOIN STRING_IDS o ON o.id = c.opType
    JOIN STRING_IDS k ON k.id = c.taskType JOIN STRING_IDS i ON i.id = c.inputShapes
    JOIN STRING_IDS d ON d.id = c.inputDataTypes JOIN STRING_IDS f ON f.id = c.inputFormats
    JOIN STRING_IDS os ON os.id = c.outputShapes JOIN STRING_IDS od ON od.id = c.outputDataTypes
    JOIN STRING_IDS of ON of.id = c.outputFormats JOIN STRING_IDS tt ON tt.id = t.taskType
    ORDER BY t.streamId, t.startNs
"""


class Task:
    """A real compute task."""

    def __init__(self, row: tuple[object, ...]) -> None:
        self.task, self.duration, self.blocks, self.stream = (int(str(part)) for part in row[:4])
        self.texts = dict(zip(COLUMNS, map(str, row[4:-1]), strict=True))
        self.task_type = str(row[-1])


@cache
def real() -> list[Task]:
    if not REAL.exists():
        pytest.skip(f"{PROFILE} is not next to the project in ../shared")
    with sqlite3.connect(f"file:{REAL}?mode=ro&immutable=1", uri=True) as database:
        return [Task(row) for row in database.execute(QUERY)]


@cache
def counters() -> dict[int, dict[str, float]]:
    found: dict[int, dict[str, float]] = {}
    query = """
        SELECT p.globalTaskId, s.value, p.value
        FROM TASK_PMU_INFO p JOIN STRING_IDS s ON s.id = p.name
    """
    with sqlite3.connect(f"file:{REAL}?mode=ro&immutable=1", uri=True) as database:
        for task, name, value in database.execute(query):
            found.setdefault(task, {})[name] = value
    return found


@cache
def simulated() -> Program:
    choice = ModelChoice(kind="cnn", data_type="FLOAT", batch=32)
    return build(choice, machine(HardwareChoice()), Parallelism(8), 0)


def pairs() -> list[tuple[Task, Kernel]]:
    """Real tasks of the compute stream, then of the other one, next to the simulated kernels."""
    launched = [item for item in simulated().items if isinstance(item, Launch)]
    ordered = sorted(launched, key=lambda item: item.stream != "compute")
    return list(zip(real(), [item.variants[0] for item in ordered], strict=True))


@pytest.mark.parametrize("column", COLUMNS[1:])
def test_are_the_texts_of_every_kernel_those_of_the_real_one(column: str) -> None:
    for task, kernel in pairs():
        assert getattr(kernel, column) == task.texts[column], task.texts


def test_are_task_types_and_names_of_library_kernels_the_real_ones() -> None:
    for task, kernel in pairs():
        assert kernel.task_type == task.task_type
        if task.texts["name"].startswith("aclnn"):
            assert kernel.name == task.texts["name"]
        else:
            # The numbers of compiled graphs depend on what the process has compiled before.
            names = (kernel.name, task.texts["name"])
            assert len({re.sub(r"\d+(?=$|_MemSet)", "", name) for name in names}) == 1


def test_are_the_sums_of_gradients_the_real_ones() -> None:
    real()
    counts = [item.count for item in simulated().items if isinstance(item, Collective)]
    assert counts == [4097000, 16781312, 37752832, 2469696]


def test_do_kernels_last_as_long_as_the_real_ones() -> None:
    factors = [kernel.duration / task.duration for task, kernel in pairs()]
    close = sum(1 / 1.5 <= factor <= 1.5 for factor in factors)
    assert close >= 0.93 * len(factors)
    assert max(*factors, *(1 / factor for factor in factors)) < 2.2
    total = sum(kernel.duration for _, kernel in pairs()) / sum(
        task.duration for task, _ in pairs()
    )
    assert 0.9 < total < 1.1
    assert 0.9 < median(factors) < 1.1


def test_do_kernels_use_as_many_cores_as_the_real_ones() -> None:
    same = [
        kernel.blocks == task.blocks or abs(kernel.blocks / task.blocks - 1) < 0.25
        for task, kernel in pairs()
        if task.blocks
    ]
    assert sum(same) >= 0.93 * len(same)


@pytest.mark.parametrize(
    ("core", "metric", "bound"),
    [
        ("AI_CORE", "aic_mac_ratio", 1.25),
        ("AI_CORE", "aic_mte2_ratio", 1.25),
        ("AI_CORE", "aic_mte1_ratio", 1.25),
        ("AI_CORE", "aic_fixpipe_ratio", 1.5),
        ("AI_CORE", "aic_scalar_ratio", 1.25),
        ("AI_VECTOR_CORE", "aiv_vec_ratio", 1.5),
        ("AI_VECTOR_CORE", "aiv_mte2_ratio", 1.5),
        ("AI_VECTOR_CORE", "aiv_mte3_ratio", 1.5),
        ("AI_VECTOR_CORE", "aiv_scalar_ratio", 1.5),
        ("AI_VECTOR_CORE", "aiv_icache_miss_rate", 1.5),
        ("MIX_AIV", "aiv_vec_ratio", 1.5),
        ("MIX_AIV", "aiv_mte2_ratio", 1.5),
        ("MIX_AIV", "aiv_scalar_ratio", 1.5),
    ],
)
def test_do_counters_have_the_means_of_the_real_ones(core: str, metric: str, bound: float) -> None:
    chosen = [(task, kernel) for task, kernel in pairs() if kernel.core == core]
    expected = mean(counters()[task.task][metric] for task, _ in chosen)
    found = mean(measured([kernel for _, kernel in chosen])[metric])
    assert 1 / bound < found / expected < bound


def measured(kernels: list[Kernel]) -> dict[str, list[float]]:
    chip = machine(HardwareChoice()).chip
    durations = np.array([kernel.duration for kernel in kernels], np.int64)
    clock = np.full(len(kernels), chip.frequency)
    group = "PipeUtilization"
    values = metric_values(kernels, np.arange(len(kernels)), durations, clock, group, chip)
    return dict(zip(metric_names(group, chip), values.T.tolist(), strict=True))
