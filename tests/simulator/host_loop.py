"""A rank's timeline from a plain event loop over a random program, without the world."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from ascend_simulator.choices import HardwareChoice
from ascend_simulator.hardware import machine
from ascend_simulator.hardware.model import Chip
from ascend_simulator.host import HostScript
from ascend_simulator.program.model import (
    Annotate,
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
from ascend_simulator.world.timeline import HostTimes, RankTimeline

SESSION = 1_767_258_000_000_000_000
FFTS: Chip = machine(HardwareChoice("A2")).chip
PLAIN: Chip = machine(HardwareChoice("910A")).chip
CORES = ["AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV", "AI_CPU", "DSA_SQE"]
MODULES = [
    (),
    ("nn.Module: Net_0",),
    ("nn.Module: Net_0", "nn.Module: Linear_0"),
    ("nn.Module: Net_0", "nn.Module: Linear_1"),
    ("nn.Module: Net_0", "nn.Module: Block_0", "Attention_0", "Linear_2"),
    ("torch/optim/sgd.py(75): step",),
]
COLLECTIVES = ["allReduce", "allGather", "reduceScatter", "alltoallv", "broadcast", "send"]


def kernel(draw: random.Random) -> Kernel:
    core = draw.choice(CORES)
    return Kernel(
        name="aclnnMul_Mul_Mul",
        op_type=draw.choice(["Mul", "Conv2D", "TransData"]),
        core=core,  # type: ignore[arg-type]
        task_type="KERNEL_AIVEC",
        blocks=8,
        input_formats="ND",
        input_data_types="FLOAT",
        input_shapes=draw.choice(["4", "4;4", "4,4;4;1"]),
        output_formats="ND",
        output_data_types="FLOAT",
        output_shapes="4",
        duration=draw.randrange(1_000, 60_000),
        subtask=draw.random() < 0.2,
    )


def random_program(seed: int, operators: int) -> Program:
    """Operators of every sort, the backward ones in the second half; a wait comes last.

    A backward operator has the sequence number of its forward one.
    """
    draw = random.Random(seed)
    made: list[Operator] = []
    items: list[Item] = []
    collectives: list[int] = []
    for place in range(operators):
        backward = place > operators // 2
        forward = draw.randrange(place // 2 + 1) if backward and draw.random() < 0.7 else None
        if forward is not None and made[forward].thread == "backward":
            forward = None
        operator = Operator(
            name=draw.choice(["aten::mm", "aten::_log_softmax", "npu::npu_rotary_mul", "c10d::x"]),
            api=draw.choice(["aclnnMm", "aclnnMul", "aclnnInplaceCopy"]),
            thread="backward" if backward and draw.random() < 0.8 else "main",
            host=draw.choice([0, 1, 5_000, 40_000, 150_000]),
            two_phase=draw.random() < 0.8,
            workspace=draw.choice([0, 4_096]),
            data_types=draw.choice(["", "float;float"]),
            shapes=draw.choice(["", "4,4;4"]),
            module=draw.choice(MODULES),
            forward=forward,
            sequence=place if draw.random() < 0.5 else -1,
            tensors=tuple(Tensor(512, None) for _ in range(draw.randrange(3))),
        )
        if operator.thread == "backward" or forward is not None:
            number = -1 if forward is None else made[forward].sequence
            operator = replace(operator, sequence=number)
        made.append(operator)
        first = len(items)
        for _ in range(draw.choice([1, 1, 1, 2, 4])):
            items.append(_item(draw, place, len(items), collectives))
        if all(isinstance(item, Annotate) for item in items[first:]):
            made[place] = replace(operator, sequence=-1)  # marks alone have no row of their own
    made.append(Operator("aten::item", "", "main", 20_000))
    items.append(Synchronize(operators))
    items = [
        replace(item, last=draw.randrange(number, len(items)))
        if isinstance(item, Annotate)
        else item
        for number, item in enumerate(items)
    ]
    return Program(tuple(made), tuple(items))


def _item(draw: random.Random, operator: int, place: int, collectives: list[int]) -> Item:
    sort = draw.random()
    if sort < 0.5:
        return Launch(operator, tuple(kernel(draw) for _ in range(draw.choice([1, 1, 3]))))
    if sort < 0.6:
        collectives.append(place)
        kind = draw.choice(COLLECTIVES)
        return Collective(operator, kind, "dp", 1_024, "FP32")  # type: ignore[arg-type]
    if sort < 0.7 and collectives:
        return Await(operator, draw.choice(collectives))
    if sort < 0.8:
        return Copy(operator, 4_096, draw.choice(["host to device", "device to device"]), 2_000)
    if sort < 0.85:
        return Synchronize(operator)
    if sort < 0.9:
        return Prepare(operator, draw.randrange(10_000_000))
    return Annotate(operator, f"range {place}", "default", place, on_device=draw.random() < 0.5)


def timeline(
    script: HostScript, seed: int = 0, steps: int = 2, lead: int = 400_000
) -> RankTimeline:
    """Play the steps of a script, every length varied as a whole."""
    draw = random.Random(seed)
    plan, program = script.plan, script.program
    shape = (steps, len(program.items))
    host = {name: np.full(shape, -1, np.int64) for name in HostTimes.__dataclass_fields__}
    collections = []
    moment, consumer, device = SESSION + lead, 0, 0
    starts, ends = [], []

    def varied(length: int) -> int:
        return length * draw.randrange(800, 1_300) // 1_000

    for step in range(steps):
        starts.append(moment)
        for place, item in enumerate(program.items):
            if draw.random() < 0.05:
                collections.append((moment + 10, moment + 90_000))
                moment += 100_000
            work = item.duration if isinstance(item, Prepare) else 0
            host["begin"][step, place] = moment
            moment += varied(int(plan.before[place])) + work
            host["handed"][step, place] = moment
            if plan.occupied[place]:
                busy = varied(int(plan.occupied[place]))
                consumer = max(consumer, moment)
                host["taken"][step, place] = consumer
                visible = busy * int(plan.visible[place]) // int(plan.occupied[place])
                host["seen"][step, place] = consumer + visible + 1_000
                consumer += busy
                host["done"][step, place] = consumer
                device = max(device, consumer) + draw.randrange(200_000)
            moment += varied(int(plan.after[place]))
            if isinstance(item, Synchronize):
                moment = max(moment + 1_000, device)
            host["left"][step, place] = moment
        ends.append(moment)
        moment += 2_000
    host["collections"] = np.array(collections, np.int64).reshape(-1, 2)
    return RankTimeline(
        rank=0,
        stage=0,
        device=0,
        program=program,
        plan=plan,
        session=(SESSION, -(-(moment + lead) // 1_000) * 1_000),
        step_numbers=np.arange(steps, dtype=np.int64) + 50,
        step_starts=np.array(starts, np.int64),
        step_ends=np.array(ends, np.int64),
        host=HostTimes(**host),
        variant=np.zeros(shape, np.int64),
        start=np.zeros(shape, np.int64),
        end=np.zeros(shape, np.int64),
        frequency=np.full(steps, 1_800, np.int64),
    )
