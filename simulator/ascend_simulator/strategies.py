"""Hypothesis strategies for scenarios; they shrink towards one small operator on one rank.

Needs Hypothesis, which the extra ``strategies`` installs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from ascend_ref.capture import Switches
from ascend_ref.capture.metric_groups import aic_metrics
from ascend_ref.capture.switches import ONLY_BY_CANN
from ascend_spec import catalog

try:
    from hypothesis import assume
    from hypothesis import strategies as st
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "ascend_simulator.strategies needs hypothesis; expected the extra: "
        "pip install 'ascend-ref[strategies]'",
        name=missing.name,
    ) from missing

from .choices import (
    LOSSES,
    LOSSES_OF_DEVICE,
    LOSSES_OF_HOST,
    LOSSES_OF_JOBS,
    LOSSES_OF_RAW,
    Algorithm,
    DataType,
    FaultChoice,
    FaultKind,
    HardwareChoice,
    ModelChoice,
    ModelKind,
    Parallelism,
    Place,
    ProductName,
    Scenario,
    Schedule,
)
from .hardware.model import machine
from .program.cost import kinds as operators
from .program.counters import metric_groups
from .program.single import least_lengths
from .scenario import run_schema
from .scenario.consistency import (
    LAYERED,
    LEAST_PERIOD,
    files_of_runs,
    flow_categories,
    problems,
    sampled_tables,
)

KINDS: tuple[ModelKind, ...] = tuple(reversed(get_args(ModelKind)))
"""The simplest first."""
SMALL_MEMORY = 16 << 30
"""Byte; models for NPUs with less are smaller, so that every one that is drawn has room."""
RATES = (0, 1, 10, 50, 100)
"""Samples per second."""
LONGEST = (4096, 4096, 256, 64, 27)
"""Of each length of a shape, by their number: so every operand is small for any device."""


@st.composite
def scenarios(
    draw: st.DrawFn,
    *,
    max_ranks: int = 16,
    max_steps: int = 3,
    max_faults: int = 3,
    kinds: Sequence[ModelKind] = KINDS,
    losses: bool = False,
    of_cann: bool = False,
) -> Scenario:
    """Any possible scenario of at most so many ranks and steps, with a small model.

    ``kinds`` of models, the simplest first. losses: also of data that no profile is whole without.
    of_cann: with any switches that CANN's profiler alone has, so that no framework's holds it.
    """
    kind = draw(st.sampled_from(kinds))
    hardware = draw(hardware_choices())
    parallelism = draw(parallelisms(kind, hardware, max_ranks))
    schedule = Schedule(
        first=draw(st.integers(0, 1000)),
        wait=draw(st.integers(0, 2)),
        warmup=draw(st.integers(0, 2)),
        active=draw(st.integers(1, max_steps)),
        repeat=draw(st.integers(1, 2)),
    )
    scenario = Scenario(
        name="drawn",
        hardware=hardware,
        model=draw(models(kind, hardware.product, parallelism)),
        parallelism=parallelism,
        schedule=schedule,
        capture=draw(switches(hardware)),
    )
    count = draw(st.integers(0, max_faults))
    found = replace(
        scenario, faults=tuple(draw(faults(scenario, losses=losses)) for _ in range(count))
    )
    assume(not any(problems(found)))  # many faults together may be too much
    return draw(as_cann_asks(found)) if of_cann else found


@st.composite
def as_cann_asks(draw: st.DrawFn, scenario: Scenario) -> Scenario:
    """The scenario with any switches that CANN's profiler alone has; most have times of tasks."""
    asked = replace(
        scenario.capture,
        task_time=draw(st.sampled_from([True, True, True, False])),
        hccl=draw(st.booleans()),
        runtime_api=draw(st.sampled_from([None, False, True])),
    )
    return replace(scenario, capture=asked)


@st.composite
def hardware_choices(draw: st.DrawFn) -> HardwareChoice:
    """Any machine, mostly as on its data sheet."""
    product: ProductName = draw(st.sampled_from(get_args(ProductName)))
    algorithm: Algorithm = draw(st.sampled_from(get_args(Algorithm)))
    return HardwareChoice(
        product=product,
        devices_per_host=draw(st.none() | st.sampled_from([1, 2, 3, 4, 8])),
        frequency=draw(st.none() | st.integers(900, 2000)),
        hbm_bandwidth=draw(st.none() | st.integers(50, 3000)),
        link_bandwidth=draw(st.none() | st.integers(1, 200)),
        host_bandwidth=draw(st.none() | st.integers(1, 100)),
        algorithm=algorithm,
        kernel_gap=draw(st.integers(0, 100_000)),
    )


@st.composite
def parallelisms(
    draw: st.DrawFn, kind: ModelKind, hardware: HardwareChoice, max_ranks: int
) -> Parallelism:
    """Any division of at most so many ranks that a kind of model allows."""
    layered = kind in LAYERED
    tensor = draw(st.sampled_from([1, 2, 4] if layered else [1]).filter(lambda n: n <= max_ranks))
    pipeline = draw(st.integers(1, min(4, max_ranks // tensor)) if layered else st.just(1))
    data = draw(st.integers(1, max_ranks // (tensor * pipeline)))
    ranks = tensor * pipeline * data
    expert = draw(st.sampled_from(_divisors(data))) if kind == "moe" else 1
    together = [
        count for count in _divisors(machine(hardware).devices_per_host) if ranks % count == 0
    ]
    return Parallelism(ranks, tensor, pipeline, expert, draw(st.sampled_from(together)))


@st.composite
def models(
    draw: st.DrawFn, kind: ModelKind, product: ProductName, parallelism: Parallelism
) -> ModelChoice:
    """A small model of a kind that the ranks can share."""
    types = [
        name
        for name in get_args(DataType)
        if name != "DT_BF16" or catalog().products[product].can("bf16")
    ]
    experts = parallelism.expert * draw(st.integers(1, 4))
    heads = parallelism.tensor * draw(st.integers(1, 4))
    operator = draw(st.sampled_from(list(operators())))
    lengths = max(least_lengths(operator), draw(st.integers(1, 5)))
    small = machine(HardwareChoice(product)).chip.memory < SMALL_MEMORY
    drawn: dict[str, Any] = {
        "layers": draw(st.integers(parallelism.pipeline, 2 * parallelism.pipeline)),
        "hidden": heads * min(draw(st.sampled_from([16, 64, 128])), 64 if small else 128),
        "heads": heads,
        "sequence": draw(st.sampled_from([16, 128, 1024])),
        "vocabulary": draw(st.integers(16, 50_000)),
        "expand": draw(st.integers(10, 80)),
        "batch": min(draw(st.integers(1, 8)), 4 if small else 8),
        "microbatches": draw(st.integers(1, 4)),
        "experts": experts,
        "top_k": draw(st.integers(1, min(experts, 4))),
        "image": draw(st.sampled_from([64, 128, 224])),
        "channels": draw(st.sampled_from([16, 64])),
        "tables": draw(st.integers(1, 8)),
        "rows": draw(st.integers(1, 1_000_000)),
        "width": draw(st.sampled_from([8, 16, 64])),
        "prompt": draw(st.integers(1, 512)),
        "generate": draw(st.integers(1, 4)),
        "operator": operator,
        "shape": draw(st.tuples(*[st.integers(1, LONGEST[lengths - 1])] * lengths)),
        "graph": draw(st.booleans()),
        "preprocess": draw(st.sampled_from(get_args(Place))),
    }
    read = set(run_schema().read_by("model", kind))
    return ModelChoice(
        kind=kind,
        data_type=draw(st.sampled_from(types)),
        **{name: value for name, value in drawn.items() if name in read},
    )


@st.composite
def switches(draw: st.DrawFn, hardware: HardwareChoice) -> Switches:
    """Any switches that a machine has."""
    # Of those that any format can hold.
    groups = [group for group in metric_groups(machine(hardware).chip) if group in aic_metrics()]
    special: dict[str, st.SearchStrategy[Any]] = {
        "aic_metrics": st.none() | st.sampled_from(groups),
        "instr": st.sampled_from([0, LEAST_PERIOD, 30_000]),
    }
    drawn = {
        name: draw(special[name] if name in special else _settings(schema))
        for name, schema in run_schema().fields("capture").items()
        if name not in ONLY_BY_CANN
    }
    drawn["npu"] |= not drawn["cpu"]
    return Switches(**drawn)


def _settings(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """What a switch may be set to."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "boolean":
        return st.booleans()
    if schema["type"] == "array":
        return st.lists(st.sampled_from(schema["items"]["enum"]), unique=True).map(tuple)
    return st.sampled_from([rate for rate in RATES if rate <= schema["maximum"]])


@st.composite
def faults(draw: st.DrawFn, scenario: Scenario, *, losses: bool = False) -> FaultChoice:
    """Any fault that can happen to a scenario without it.

    losses: also those after which ``check`` finds that data are lost.
    """
    ranks, steps = scenario.parallelism.ranks, scenario.schedule.captured()
    nominal = machine(scenario.hardware).chip.frequency
    samplers = sorted(sampled_tables(scenario))
    kinds: list[FaultKind] = [
        kind
        for kind in get_args(FaultKind)
        if (ranks > 1 or kind not in ("slow-link", "communication-retry"))
        and (samplers or kind != "lost-samples")
        and (losses or kind not in LOSSES)
        and (scenario.capture.npu or kind not in LOSSES_OF_DEVICE)
        and (scenario.capture.cpu or kind not in LOSSES_OF_HOST)
        and kind not in (*LOSSES_OF_RAW, *LOSSES_OF_JOBS)
    ]
    kind = draw(st.sampled_from(kinds))
    numbers = st.integers(0, ranks - 1)
    first = draw(st.sampled_from(steps))
    drawn: dict[str, Any] = {
        "ranks": tuple(draw(st.lists(numbers, unique=True))),
        "link": tuple(draw(st.permutations(range(ranks)))[:2]) if kind == "slow-link" else None,
        "steps": draw(st.none() | st.tuples(st.just(first), st.integers(first, steps[-1]))),
        "factor": draw(st.integers(1001, 5000)),
        "frequency": draw(st.integers(nominal // 2, nominal - 1)),
        "milliseconds": draw(st.integers(1, 200)),
        "megabytes": draw(st.integers(1, 256)),
        "sampler": draw(st.sampled_from(samplers or ["HBM"])),
        "file": draw(st.sampled_from(sorted(files_of_runs()))),
        "arrows": draw(st.sampled_from(sorted(flow_categories()))),
    }
    read = set(run_schema().read_by("fault", kind))
    return FaultChoice(kind, **{name: value for name, value in drawn.items() if name in read})


def _divisors(number: int) -> list[int]:
    return [one for one in range(1, number + 1) if number % one == 0]
