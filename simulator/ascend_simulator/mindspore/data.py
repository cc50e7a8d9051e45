"""The data pipeline of a simulated run: its operators, their queues, and that to the device.

It is fast enough, unless a stall hits a step: then the queue to the device has run empty, since one
operator is too slow. What takes data from it finds its queue as empty as its own is; what it takes
data from fills its own. All lengths and rates are inferred.
"""

from __future__ import annotations

from ascend_ref.capture import Capture, Integers, Steps
from ascend_ref.mindspore.write.minddata import DataPipeline, PipelineOperator, QueueSample

from ..choices import Loader, Scenario
from ..draws import Draws
from ..world.disturbance import MILLISECOND, Disturbances

CAPACITY = 32
"""Batches that the queue to the device holds."""
LENGTH = 64
"""What the queue of an operator holds."""
SAMPLES = 10
"""Of each queue at a step."""
INTERVAL = 10
"""ms between two samples."""
PROCESSORS = 96

GET_MS, PUSH_MS = (1, 4), (0, 1)
FULL = (58, 64)
"""Of a queue that is filled fast enough."""
DRAINED = (0, 6)
"""Of one that is not."""
IDLE = (55, 75)
"""Percent of the processors that wait while the host launches as fast as it can."""
BUSY_FROM = 2_000
"""Factor of a slow launching host (thousandths) from which on its processors have no time left."""
BUSY = (4, 12)

OPERATORS: tuple[tuple[Loader, str, int], ...] = (
    ("batch", "BatchOp", 8),
    ("map", "MapOp", 8),
    ("generator", "GeneratorOp", 1),
    ("source", "TFReaderOp", 4),
)
"""Each takes data from the next one; the last reads them."""
ROOT = "DeviceQueueOp"


def data_pipeline(
    scenario: Scenario, disturbances: Disturbances, capture: Capture, seed: int
) -> DataPipeline:
    """What the dataset engine of a rank samples."""
    rank = capture.origin.rank
    draws = Draws(seed, "data pipeline", rank)
    pause = disturbances.pause("data-loading-stall", rank)
    slow = {
        step: fault.loader
        for fault, first, last in disturbances.hits("data-loading-stall", rank)
        for step in range(first, last + 1)
    }
    origin = capture.origin
    steps = capture.steps if origin.scheduled is None else origin.scheduled
    count = len(steps) * SAMPLES
    launching = disturbances.factor("host-bound-launch", rank)
    busy = (launching >= BUSY_FROM).repeat(SAMPLES)[:count]
    idle = draws.between(*IDLE, count)
    idle[busy] = draws.between(*BUSY, count)[busy]
    return DataPipeline(
        _operators(slow, count, draws),
        _queue(steps, origin.start, pause, draws),
        CAPACITY,
        INTERVAL,
        PROCESSORS,
        tuple(idle.tolist()),
    )


def _operators(slow: dict[int, Loader], count: int, draws: Draws) -> list[PipelineOperator]:
    found = [PipelineOperator(0, ROOT, 1, children=(1,))]
    names = [name for name, _, _ in OPERATORS]
    for number, (name, op_type, workers) in enumerate(OPERATORS, 1):
        sizes = draws.between(*FULL, count)
        drained = draws.between(*DRAINED, count)
        for step, loader in slow.items():
            if names.index(name) <= names.index(loader):
                own = slice(step * SAMPLES, (step + 1) * SAMPLES)
                sizes[own] = drained[own]
        children = (number + 1,) if number < len(OPERATORS) else ()
        queue = tuple(sizes.tolist())
        found.append(PipelineOperator(number, op_type, workers, queue, LENGTH, children))
    return found


def _queue(steps: Steps, start: int, pause: Integers, draws: Draws) -> list[QueueSample]:
    count = len(steps)
    get, push = draws.between(*GET_MS, count), draws.between(*PUSH_MS, count)
    size = CAPACITY - draws.between(0, 1, count)
    stalled = pause[:count] > 0
    get += pause[:count] // MILLISECOND
    size[stalled] = 0
    time = (steps.start - start) // MILLISECOND
    columns = (one.tolist() for one in (get, push, size, time))
    return [QueueSample(*one) for one in zip(*columns, strict=True)]
