"""Samples that the device prepares: decoded by its engines, queued, and taken by GetNext."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers

from ..program.cnn import GET_NEXT
from .scene import Columns, KernelRuns, RecordScene

QUEUE = (8, 32)
"""Batches that the queue holds when it is asked."""
NODE = "GetNext_dequeue_wait"
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


def _queued(scene: RecordScene) -> Integers:
    """Batches in the queue when each GetNext asks; after taking one there is one less."""
    count = len(get_next_runs(scene).start)
    return scene.draws("queue").between(*QUEUE, count)


def aicpu_mi(scene: RecordScene) -> Columns:
    """How long each batch was waited for: the first half of its kernel."""
    runs = get_next_runs(scene)
    return {
        "name": scene.texts([NODE] * len(runs.start)),
        "start": runs.start,
        "end": (runs.start + runs.end) // 2,
        "size": _queued(scene),
    }


def dp(scene: RecordScene) -> Columns:
    """Each batch that left the queue."""
    mi = aicpu_mi(scene)
    return {
        "time": mi["end"],
        "action": scene.texts([ACTION] * len(mi["end"])),
        "source": scene.texts([SOURCE] * len(mi["end"])),
        "buffered": mi["size"] - 1,
    }


def dvpp(scene: RecordScene) -> Columns:
    """Pictures of all batches, dealt to the engines of each busy type in turn."""
    choice = scene.scenario.model
    pictures = choice.batch * len(get_next_runs(scene).start)
    if not pictures:
        return {}
    grid = scene.moments("dvpp", scene.scenario.capture.dvpp)
    engines = [(kind, number) for kind, count in ENGINES.items() for number in range(count)]
    frames = np.array(
        [
            (pictures + ENGINES[kind] - 1 - number) // ENGINES[kind] * (kind in BUSY)
            for kind, number in engines
        ],
        np.int64,
    )
    return {
        "group": np.zeros(len(engines), np.int64),
        "type": scene.texts(kind for kind, _ in engines),
        "engine": np.array([number for _, number in engines], np.int64),
        "busy": frames * (choice.image**2 // PIXELS_PER_NS),
        "frames": frames,
        "observed": np.full(len(engines), grid[-1] - scene.timeline.session[0], np.int64),
    }
