"""A run of a graph as a capture, and as the raw files that a collector writes of it."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np

from ascend_ref.atomic import staged
from ascend_ref.capture import Capture, Origin, Switches, Texts
from ascend_ref.capture.model import NONE, DeviceFacts, Tasks
from ascend_ref.ge.trace import Insertion
from ascend_ref.profile.write import prof_folder
from ascend_ref.raw.encode.write import write_raw

from ..choices import HardwareChoice, ProductName
from ..hardware.model import machine
from ..session.setting import FIRST_SESSION_NS
from .execute import Run, execute

PRODUCTS: tuple[ProductName, ...] = get_args(ProductName)
MODEL = 1
"""The model that a graph is loaded as."""
DEVICE = 0
BEFORE_NS = 10_000_000
"""From the start of the session to the first execution, and from the last one to its end."""
PROCESS = 4242
KIND = "AI_CORE"
LONGEST_NS = 3_600 * 10**9


def write_run(
    insertion: Insertion, folder: Path, iterations: int, seed: int, product: ProductName
) -> Path:
    """Run the tasks of a graph and write the raw files of it below ``folder``.

    Returns the ``PROF_*``. Raises ``ValueError`` for a graph that no device can run so,
    ``FileExistsError``, ``OSError``.
    """
    run = execute(insertion, iterations, seed, FIRST_SESSION_NS + BEFORE_NS, MODEL)
    if run.end - FIRST_SESSION_NS > LONGEST_NS:
        raise ValueError("the run lasts longer than an hour; expected fewer iterations")
    capture = capture_of(run, product)
    target = folder / prof_folder(capture.origin)
    with staged(target) as draft:
        write_raw(draft, capture, points={DEVICE: run.points})
    return target


def capture_of(run: Run, product: ProductName) -> Capture:
    """The capture of a run: what nodes ran. What the device noted goes into raw files alone."""
    chip = machine(HardwareChoice(product=product)).chip
    texts, count = Texts(), len(run.tasks.start)
    order = np.argsort(run.tasks.start, kind="stable")
    none = np.full(count, NONE)
    tasks = Tasks(
        start=run.tasks.start[order],
        end=run.tasks.end[order],
        device=np.full(count, DEVICE),
        stream=run.tasks.stream[order],
        number=np.arange(count),
        context=none,
        model=np.full(count, MODEL),
        connection=none,
        identity=np.arange(count),
        kind=np.full(count, texts.number(KIND)),
    )
    origin = Origin(
        rank=0,
        ranks=1,
        devices=(DEVICE,),
        chip=chip.name,
        pid=PROCESS,
        host_name="node-1",
        host_uid=0,
        start=FIRST_SESSION_NS,
        end=run.end + BEFORE_NS,
        facts=DeviceFacts(chip.cube_cores, chip.vector_cores, chip.ai_cpu_cores, chip.frequency),
        family=chip.product,
    )
    return Capture(origin, Switches(aic_metrics=None), texts, tasks=tasks)
