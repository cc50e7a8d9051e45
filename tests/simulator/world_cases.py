"""Scenarios and programs at random, small enough to be played by hand, and how to simulate them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any
from unittest import mock

import numpy as np
from hypothesis import strategies as st

from ascend_ref.capture import Capture
from ascend_ref.capture.model import Samples
from ascend_simulator.choices import Parallelism, Scenario
from ascend_simulator.memory import Footprint
from ascend_simulator.program.model import (
    OTHER_STREAM,
    Annotate,
    Await,
    Collective,
    Copy,
    Dimension,
    Item,
    Kernel,
    Launch,
    Operator,
    Prepare,
    Program,
    Synchronize,
)
from ascend_simulator.samples.traffic import Traffic
from ascend_simulator.session import setting as settings
from ascend_simulator.session import simulate
from ascend_simulator.session.setting import Setting
from ascend_simulator.truth import RankTotals, rank_totals
from ascend_simulator.world.layout import Layout
from ascend_simulator.world.rank import RankMeetings
from ascend_simulator.world.timeline import Scene


@dataclass(frozen=True)
class Simulated:
    """A run of the world: by rank its meetings, capture, totals and traffic."""

    world: Setting
    meetings: list[RankMeetings]
    captures: list[Capture]
    totals: list[RankTotals]
    traffic: list[Traffic]


def world_of(scenario: Scenario, seed: int, programs: Sequence[Program] = ()) -> Setting:
    """The setting of a scenario, with programs of one's own where they are given."""
    build = settings.build
    if programs:
        build = lambda model, machine, parallelism, stage: programs[stage]  # noqa: E731
    with mock.patch.object(settings, "build", build):
        return settings.setting.__wrapped__(scenario, seed)


def simulated(world: Setting) -> Simulated:
    """Simulate all ranks of a setting."""
    scenario, seed = world.scenario, world.seed
    ranks = range(scenario.parallelism.ranks)
    moved: list[Traffic] = []
    record = simulate.record_samples

    def noted(scene: Scene, traffic: Traffic, footprint: Footprint) -> Samples:
        moved.append(traffic)
        return record(scene, traffic, footprint)

    with (
        mock.patch.object(simulate, "setting", return_value=world),
        mock.patch.object(simulate, "record_samples", noted),
    ):
        summaries = [simulate.summary_of(scenario, seed, rank) for rank in ranks]
        meetings = simulate.couple(scenario, seed, summaries)
        found = [simulate.recorded(scenario, seed, rank, meetings[rank]) for rank in ranks]
    totals = [rank_totals(*one) for one in found]
    return Simulated(world, meetings, [one for one, _ in found], totals, moved)


def sizes(parallelism: Parallelism) -> dict[Dimension, int]:
    """Groups of two ranks and more, with their sizes."""
    layout = Layout(parallelism)
    dimensions: tuple[Dimension, ...] = ("world", "dp", "tp", "pp", "ep", "edp")
    found = {name: layout.groups(name).shape[1] for name in dimensions}
    return {name: size for name, size in found.items() if size > 1}


def kernel(duration: int, core: str, *, subtask: bool) -> Kernel:
    """A kernel of so many ns."""
    task_types = {"AI_CORE": "KERNEL_AICORE", "MIX_AIC": "MIX_AIC", "AI_CPU": "KERNEL_AICPU"}
    return Kernel(
        name=f"aclnnMul_{core}_{duration}",
        op_type="Mul",
        core=core,  # type: ignore[arg-type]
        task_type=task_types.get(core, "KERNEL_AIVEC"),
        blocks=0 if core == "AI_CPU" else 8,
        input_formats="ND",
        input_data_types="FLOAT",
        input_shapes="4",
        output_formats="ND",
        output_data_types="FLOAT",
        output_shapes="4",
        duration=duration,
        clock_bound=duration % 1001,
        read=duration * 3,
        written=duration,
        subtask=subtask,
    )


DURATIONS = st.sampled_from([2_000, 20, 60_000, 1_000_000])
CORES = st.sampled_from(["AI_VECTOR_CORE", "AI_CORE", "AI_CPU", "MIX_AIC"])
COUNTS = st.sampled_from([1_000, 1, 7, 1_000_003])
HOSTS = st.sampled_from([5_000, 0, 200_000])
KINDS = st.sampled_from(["allReduce", "allGather", "reduceScatter", "alltoallv", "broadcast"])


@st.composite
def kernels(draw: st.DrawFn) -> Kernel:
    """A kernel."""
    return kernel(draw(DURATIONS), draw(CORES), subtask=draw(st.booleans()))


class _Stages:
    """Programs of all stages while they grow. Operators follow each other; none repeats."""

    def __init__(self, count: int) -> None:
        self.operators: list[list[Operator]] = [[] for _ in range(count)]
        self.items: list[list[Item]] = [[] for _ in range(count)]
        self.open: list[list[int]] = [[] for _ in range(count)]

    def operator(self, stage: int, host: int) -> int:
        self.operators[stage].append(Operator("aten::mul", "aclnnMul", "main", host))
        return len(self.operators[stage]) - 1

    def add(self, stage: int, host: int, make: type[Item], /, **fields: object) -> None:
        operator = self.operator(stage, host)
        if make is Collective:
            self.open[stage].append(len(self.items[stage]))
        self.items[stage].append(make(operator, **fields))  # type: ignore[arg-type]


@st.composite
def programs(draw: st.DrawFn, parallelism: Parallelism) -> tuple[Program, ...]:
    """One program for each stage. What stages do together they do in one order: none is stuck."""
    stages = range(parallelism.pipeline)
    groups = sizes(parallelism)
    made = _Stages(len(stages))
    sorts = ["launch", "launch", "copy", "await", "synchronize", "prepare", "annotate"]
    sorts += ["collective"] * 3 if groups else []
    sorts += ["send"] * 2 if len(stages) > 1 else []
    for sort in draw(st.lists(st.sampled_from(sorts), max_size=12)):
        stage, host = draw(st.sampled_from(stages)), draw(HOSTS)
        if sort == "launch":
            stream = draw(st.sampled_from(["compute", OTHER_STREAM]))
            operator = made.operator(stage, host)
            for _ in range(draw(st.integers(1, 3))):
                variants = tuple(draw(st.lists(kernels(), min_size=1, max_size=2)))
                made.items[stage].append(Launch(operator, variants, stream))
        elif sort == "copy":
            operation = draw(st.sampled_from(["host to device", "device to device"]))
            length = draw(DURATIONS)
            made.add(stage, host, Copy, size=4_096, operation=operation, duration=length)
        elif sort == "await" and made.open[stage]:
            made.add(stage, host, Await, item=draw(st.sampled_from(made.open[stage])))
        elif sort == "synchronize":
            made.add(stage, host, Synchronize)
        elif sort == "prepare":
            made.add(stage, host, Prepare, duration=draw(DURATIONS))
        elif sort == "annotate":
            on_device = draw(st.booleans())
            last = len(made.items[stage])
            fields = {"message": "here", "domain": "default", "last": last}
            made.add(stage, 0, Annotate, on_device=on_device, **fields)
        elif sort == "collective":
            dimension = draw(st.sampled_from(list(groups)))
            fields = {"kind": draw(KINDS), "dimension": dimension, "count": draw(COUNTS)}
            fields["data_type"] = draw(st.sampled_from(["FP32", "FP16"]))
            for one in stages if dimension in ("world", "pp") else [stage]:
                made.add(one, draw(HOSTS), Collective, **fields)
        elif sort == "send":
            peer = draw(st.sampled_from([1, -1]))
            other = (stage + peer) % len(stages)
            fields = {"dimension": "pp", "count": draw(COUNTS), "data_type": "FP16"}
            tag = int(peer < 0)
            made.add(stage, host, Collective, kind="send", peer=peer, tag=tag, **fields)
            host = draw(HOSTS)
            made.add(other, host, Collective, kind="receive", peer=-peer, tag=tag, **fields)
    for stage in stages:
        made.add(stage, draw(HOSTS), Synchronize)
    parts = zip(made.operators, made.items, strict=True)
    return tuple(Program(tuple(operators), tuple(items)) for operators, items in parts)


def assert_equal(one: Any, other: Any) -> None:
    """Two captures, or parts of them, with the same values."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    elif is_dataclass(one):
        for each in fields(one):
            assert_equal(getattr(one, each.name), getattr(other, each.name))
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            assert_equal(one[key], other[key])
    elif hasattr(one, "all"):
        assert one.all == other.all
    else:
        assert one == other
