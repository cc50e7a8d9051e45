"""The training trace of a graph: its iterations, the sums of gradients in them, and their data.

Samples that the device prepares are decoded by its engines, queued, and taken by GetNext.
"""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.capture.model import NONE
from ascend_ref.capture.records import NEXT_BATCH
from ascend_ref.derive.transit import operators_of

from ..program.cnn import GET_NEXT
from ..program.model import Collective, Launch
from ..samples.scene import Columns
from ..world.disturbance import Disturbances
from .scene import KernelRuns, RecordScene

QUEUE = (8, 32)
"""Batches that the queue holds when it is asked."""
ACTION, SOURCE = "Last dequeue", "AnonymousIterator0"
ENGINES = {"VDEC": 2, "JPEGD": 2, "PNGD": 1, "VPC": 2}
"""Engines of each type (inferred but for the first two, which a figure of the documents shows)."""
BUSY = ("JPEGD", "VPC")
"""Pictures are decoded, then scaled."""
PIXELS_PER_NS = 1
"""What an engine gets through. All three channels: more Byte than GetNext takes from the queue, so
that no batch is late (inferred)."""


def get_next_runs(scene: RecordScene) -> KernelRuns:
    """The kernels that take a batch from the queue; none where the host prepares the samples."""
    runs = scene.kernels
    takes = np.array([kernel.op_type == GET_NEXT for kernel in scene.compiled.kinds], bool)
    prepared = scene.scenario.model.preprocess == "device"
    return runs.take(takes[runs.kind] if prepared else runs.kind[:0])


def aicpu_mi(scene: RecordScene) -> Columns:
    """How long each batch was waited for, the first half of its kernel, and how many queued: none
    where the preparation of data stalls.
    """
    runs = get_next_runs(scene)
    size = scene.noise("queue").between(*QUEUE, len(runs.start))
    stalls = Disturbances.of(scene.scenario).pause("data-loading-stall", scene.timeline.rank) > 0
    step = np.searchsorted(scene.timeline.step_starts, runs.start, "right") - 1
    size[stalls[step]] = 0
    return {
        "name": scene.texts.numbers([NEXT_BATCH] * len(runs.start)),
        "start": runs.start,
        "end": (runs.start + runs.end) // 2,
        "size": size,
    }


def dp(scene: RecordScene) -> Columns:
    """Each batch that left the queue."""
    mi = aicpu_mi(scene)
    return {
        "time": mi["end"],
        "action": scene.texts.numbers([ACTION] * len(mi["end"])),
        "source": scene.texts.numbers([SOURCE] * len(mi["end"])),
        "buffered": np.maximum(mi["size"] - 1, 0),
    }


def dvpp(scene: RecordScene) -> Columns:
    """Pictures of all batches, dealt to the engines of each busy type in turn."""
    choice = scene.scenario.model
    pictures = choice.batch * len(get_next_runs(scene).start)
    if not pictures:
        return {}
    grid = scene.sampled("dvpp", scene.scenario.capture.dvpp)
    engines = [(kind, number) for kind, count in ENGINES.items() for number in range(count)]
    frames = np.array(
        [
            (pictures + ENGINES[kind] - 1 - number) // ENGINES[kind] * (kind in BUSY)
            for kind, number in engines
        ],
        np.int64,
    )
    busy = frames * (choice.image**2 // PIXELS_PER_NS)
    observed = int(grid[-1]) - scene.timeline.session[0]
    return {
        "group": np.zeros(len(engines), np.int64),
        "type": scene.texts.numbers(kind for kind, _ in engines),
        "engine": np.array([number for _, number in engines], np.int64),
        "busy": busy,
        "frames": frames,
        "utilization": np.rint(busy / observed * 100_000).astype(np.int64),
    }


GRADIENTS = ("dp", "edp")
"""Groups over which gradients are summed."""


def step_trace(scene: RecordScene) -> Columns:
    """One iteration for each step: the graph runs from its first kernel or operator to the end of
    the last, forward from its first kernel, backward until its last differentiating one.

    Source: ge-profiling.md 3.2 and 3.4 (tags), seed 001 step_trace (what is not trained has none).
    """
    timeline = scene.timeline
    launches, backward, running = _places(scene)
    if not launches:
        return {}
    none = np.full(timeline.steps, NONE)
    return {
        "model": np.full(timeline.steps, scene.model),
        "iteration": 1 + np.arange(timeline.steps),
        "start": timeline.start[:, running].min(axis=1),
        "fp_start": timeline.start[:, launches].min(axis=1) if backward else none,
        "bp_end": timeline.end[:, backward].max(axis=1) if backward else none,
        "end": timeline.end[:, running].max(axis=1),
    }


def _places(scene: RecordScene) -> tuple[list[int], list[int], list[int]]:
    """Items of the program: kernels but those that take data, those of differentiation, and all
    that the graph runs.
    """
    launches, backward, running = [], [], []
    program = scene.timeline.program
    for place, item in enumerate(program.items):
        if isinstance(item, Launch):
            running.append(place)
            if item.variants[0].op_type != GET_NEXT:
                launches.append(place)
                if program.operators[item.operator].forward is not None:
                    backward.append(place)
        elif isinstance(item, Collective):
            running.append(place)
    return launches, backward, running


def step_trace_reduce(scene: RecordScene) -> Columns:
    """The operators that sum gradients, with the intervals of COMMUNICATION_OP."""
    program, capture = scene.timeline.program, scene.capture
    sums = [
        item.kind == "allReduce"
        and item.dimension in GRADIENTS
        and program.operators[item.operator].thread == "backward"
        for _, item in scene.compiled.collectives
    ]
    found = operators_of(capture)
    # Collectives stand step after step, in the order of the program.
    step, place = np.divmod(found.rows, max(len(sums), 1))
    chosen = np.flatnonzero(np.array(sums, bool)[place]) if sums else place
    return _within(scene, 1 + step[chosen], found.start[chosen], found.end[chosen])


def step_trace_get_next(scene: RecordScene) -> Columns:
    """The kernels that take data."""
    runs = get_next_runs(scene)
    iteration = np.searchsorted(scene.timeline.step_starts, runs.start, "right")
    return _within(scene, iteration, runs.start, runs.end)


def _within(scene: RecordScene, iteration: Integers, start: Integers, end: Integers) -> Columns:
    return {
        "model": np.full(len(start), scene.model),
        "iteration": iteration,
        "start": start,
        "end": end,
    }
