"""Timelines of one rank built by hand, without the world: items one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ascend_ref.capture import Switches, Texts
from ascend_simulator.choices import FaultChoice, HardwareChoice, ProductName, Scenario
from ascend_simulator.hardware import machine
from ascend_simulator.program.model import (
    OTHER_STREAM,
    Await,
    Collective,
    Copy,
    Item,
    Kernel,
    Launch,
    Operator,
    Prepare,
    Program,
    Synchronize,
    Tensor,
)
from ascend_simulator.world.timeline import HostPlan, HostTimes, RankTimeline, Scene

START = 1_700_000_000_000_000_000
QUEUED = (Launch, Collective, Await, Copy)


def kernel(name: str = "Mul", **changes: object) -> Kernel:
    values: dict[str, object] = {
        "name": name,
        "op_type": "Mul",
        "core": "AI_VECTOR_CORE",
        "task_type": "KERNEL_AIVEC",
        "blocks": 48,
        "input_formats": "ND",
        "input_data_types": "FLOAT",
        "input_shapes": "4",
        "output_formats": "ND",
        "output_data_types": "FLOAT",
        "output_shapes": "4",
        "duration": 40_000,
        "pipes": {"vec": 6_553, "mte2": 32_768, "scalar": 655, "mte3": 13_107},
        "rates": {"icache_miss_rate": 0.0625},
        **changes,
    }
    return Kernel(**values)  # type: ignore[arg-type]


def operator(
    tensors: Sequence[tuple[int, int | None]] = (), host: int = 5_000, **changes: object
) -> Operator:
    values: dict[str, object] = {"name": "aten::mul", "api": "aclnnMul", "thread": "main"}
    taken = tuple(Tensor(size, last_use) for size, last_use in tensors)
    return Operator(host=host, tensors=taken, **{**values, **changes})  # type: ignore[arg-type]


def program(
    operators: Sequence[Operator], items: Sequence[Item], persistent: int = 100 << 20
) -> Program:
    """The items, and a Synchronize by a last operator."""
    last = operator(name="aten::item", api="aclrtSynchronizeStreamWithTimeout")
    return Program((*operators, last), (*items, Synchronize(len(operators))), persistent)


def timeline(
    of: Program,
    steps: int = 2,
    lead: int = 2_000_000,
    first_step: int = 0,
    frequency: Sequence[int] | None = None,
    pause: int = 10_000,
) -> RankTimeline:
    """Every item takes 8 us of the framework thread; the consumer and the device follow in order.

    lead: ns from the start of the session to the first step, and from the last one to its end.
    """
    shape = (steps, len(of.items))
    host = {name: np.full(shape, -1, np.int64) for name in HostTimes.__dataclass_fields__}
    start, end = np.full(shape, -1, np.int64), np.full(shape, -1, np.int64)
    moment, consumer, device, starts, ends = START + lead, 0, 0, [], []
    for step in range(steps):
        starts.append(moment)
        for place, item in enumerate(of.items):
            host["begin"][step, place] = moment
            work = item.duration if isinstance(item, Prepare) else 6_000
            host["handed"][step, place] = moment + work
            host["left"][step, place] = moment + work + 2_000
            moment += work + 2_000
            if isinstance(item, QUEUED):
                consumer = max(consumer, moment - 2_000)
                host["taken"][step, place] = consumer
                consumer += 4_000
                host["done"][step, place] = consumer
                host["seen"][step, place] = consumer - 500
                long = item.variants[0].duration if isinstance(item, Launch) else 30_000
                device = max(device, consumer)
                start[step, place], device = device, device + long
                end[step, place] = device
            elif isinstance(item, Synchronize):
                moment = max(moment, device)
                host["left"][step, place] = moment
        ends.append(moment)
        moment += pause
    host["collections"] = np.empty((0, 2), np.int64)
    count = np.array([isinstance(item, QUEUED) for item in of.items], np.int64)
    close = -(-(moment + lead) // 1_000) * 1_000
    return RankTimeline(
        rank=0,
        stage=0,
        device=0,
        program=of,
        plan=HostPlan(count * 6_000, count * 2_000, count * 4_000, count * 3_500),
        session=(START, close),
        step_numbers=np.arange(steps) + first_step,
        step_starts=np.array(starts),
        step_ends=np.array(ends),
        host=HostTimes(**host),
        variant=np.zeros(shape, np.int64),
        start=start,
        end=end,
        frequency=np.array(frequency or [1800] * steps),
    )


def scene(
    run: RankTimeline,
    switches: Switches,
    faults: Sequence[FaultChoice] = (),
    texts: Texts | None = None,
    product: ProductName = "A2",
    seed: int = 7,
) -> Scene:
    """A run as those see it who record it."""
    hardware = HardwareChoice(product=product)
    scenario = Scenario(hardware=hardware, capture=switches, faults=tuple(faults))
    return Scene(scenario, seed, machine(hardware), run, Texts() if texts is None else texts)


def random_program(seed: int, operators: int) -> Program:
    """Operators with tensors of all sizes, some with a kernel, some with none, some elsewhere."""
    draw = np.random.default_rng(seed)
    made, items = [], []
    for place in range(operators):
        sizes = draw.choice([1, 480, 481, 70_000, 1 << 20, 3 << 20, 9 << 20, 30 << 20], 3)
        uses = [
            None if draw.random() < 0.1 else int(draw.integers(place, operators)) for _ in range(3)
        ]
        count = int(draw.integers(0, 4))
        classic = bool(draw.random() < 0.3)
        made.append(
            operator(
                [(int(size), use) for size, use in zip(sizes, uses, strict=True)][:count],
                host=int(draw.integers(0, 9_000)),
                name=f"aten::op{place}",
                two_phase=not classic,
                workspace=int(draw.choice([0, 1, 300_000])),
            )
        )
        for _ in range(int(draw.integers(0, 3))):
            stream = OTHER_STREAM if draw.random() < 0.2 else "compute"
            long = int(draw.integers(1, 90)) * 1_000
            items.append(Launch(place, (kernel(f"k{place}", duration=long),), stream))
        if draw.random() < 0.15:
            items.append(Collective(place, "allReduce", "dp", 1_000, "FP32"))
    return program(made, items)


def ascending(values: np.ndarray) -> bool:
    return all(before <= after for before, after in pairwise(values.tolist()))
