"""A run of a graph as a capture, and as the raw files that a collector writes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import get_args

import numpy as np

from ascend_ref.atomic import staged
from ascend_ref.capture import Capture, Integers, Origin, Switches, Texts
from ascend_ref.capture.model import NONE, DeviceFacts, HostCalls, KernelKinds, Kernels, Tasks
from ascend_ref.derive.matching import groups, ranks
from ascend_ref.ge.trace import Graph, Insertion, Node
from ascend_ref.profile.write import prof_folder
from ascend_ref.raw.encode.write import write_raw

from ..choices import HardwareChoice, ProductName
from ..hardware.model import machine
from ..session.setting import FIRST_SESSION_NS
from ..world.small_tasks import enum_ids
from .execute import Run, execute

PRODUCTS: tuple[ProductName, ...] = get_args(ProductName)
MODEL = 1
"""The model that a graph is loaded as."""
DEVICE = 0
BEFORE_NS = 10_000_000
"""From the start of the session to the first execution, and from the last one to its end."""
PROCESS = 4242
HOST_UID = 3_538_958_389_648_580_163
TASK_KIND, CORE = "KERNEL_AICORE", "AI_CORE"
LAUNCH_NS = 1_000
"""From one launch to the next, at least; half of it it lasts."""


def write_run(
    insertion: Insertion, folder: Path, iterations: int, seed: int, product: ProductName
) -> Path:
    """Run the tasks of a graph and write the raw files of it below ``folder``.

    Returns the ``PROF_*``. Raises ``ValueError`` for a graph that no device can run so,
    ``FileExistsError``, ``OSError``.
    """
    run = execute(insertion, iterations, seed, FIRST_SESSION_NS + BEFORE_NS, MODEL)
    capture = capture_of(run, insertion.graph, product)
    target = folder / prof_folder(capture.origin)
    with staged(target) as draft:
        write_raw(draft, capture, points={DEVICE: run.points})
    return target


def capture_of(run: Run, graph: Graph, product: ProductName) -> Capture:
    """The capture of a run: a kernel for each node and its launch.

    What the device noted goes into raw files alone. Kernels are all of AI Core (inferred).
    """
    chip = machine(HardwareChoice(product=product)).chip
    texts, count = Texts(), len(run.tasks.start)
    order = np.argsort(run.tasks.start, kind="stable")
    start, stream = run.tasks.start[order], run.tasks.stream[order]
    numbers = np.arange(count)
    none = np.full(count, NONE)
    tasks = Tasks(
        start=start,
        end=run.tasks.end[order],
        device=np.full(count, DEVICE),
        stream=stream,
        number=ranks(groups(stream)[1]),
        context=none,
        model=none,
        connection=numbers,
        identity=numbers,
        kind=np.full(count, texts.number(TASK_KIND)),
    )
    nodes, kind = np.unique(run.tasks.node[order], return_inverse=True)
    origin = Origin(
        rank=NONE,
        ranks=1,
        devices=(DEVICE,),
        chip=chip.name,
        pid=PROCESS,
        host_name="node-1",
        host_uid=HOST_UID,
        start=FIRST_SESSION_NS,
        end=run.end + BEFORE_NS,
        facts=DeviceFacts(chip.cube_cores, chip.vector_cores, chip.ai_cpu_cores, chip.frequency),
        family=chip.product,
    )
    return Capture(
        origin,
        Switches(aic_metrics=None),
        texts,
        tasks=tasks,
        calls=_launches(start, texts),
        kernels=Kernels(task=numbers, kind=kind),
        kernel_kinds=_kinds([graph.of_id(one) for one in nodes.tolist()], texts),
    )


def _launches(start: Integers, texts: Texts) -> HostCalls:
    """A call for each task, before it and apart from the next one."""
    count = len(start)
    turns = np.arange(count)
    # Counted from the last one: each ends before its task and before the next one begins.
    apart = start - LAUNCH_NS - turns * LAUNCH_NS
    late = np.minimum.accumulate(apart[::-1])[::-1] + turns * LAUNCH_NS
    return HostCalls(
        start=late - LAUNCH_NS // 2,
        end=late,
        level=np.full(count, enum_ids("ENUM_API_TYPE")["node"]),
        thread=np.full(count, PROCESS),
        connection=turns,
        name=np.full(count, texts.number("launch")),
    )


def _kinds(nodes: Sequence[Node], texts: Texts) -> KernelKinds:
    """The kernels of nodes; of tensors nothing is known."""
    count = len(nodes)
    columns = {
        "name": texts.numbers(map(_kernel_name, nodes)),
        "op_type": texts.numbers(node.type for node in nodes),
        "core": np.full(count, texts.number(CORE)),
        "op_state": np.full(count, texts.number("static")),
        "hf32": np.full(count, texts.number("NO")),
        "grid": np.full(count, NONE),
        "thread_block": np.full(count, NONE),
        "blocks": np.full(count, 1),
        "mix_blocks": np.zeros(count, np.int64),
    }
    unknown = np.full(count, texts.number("N/A"))
    return KernelKinds(**{one.name: columns.get(one.name, unknown) for one in fields(KernelKinds)})


def _kernel_name(node: Node) -> str:
    """That of the node; kernels have their type in their names."""
    return node.name if node.type.lower() in node.name.lower() else f"{node.name}_{node.type}"
