"""What runs on the streams of one device except the collectives, as rows of the capture."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ascend_ref.capture import Copies, Integers, KernelKinds, Kernels, Tasks, Texts
from ascend_ref.capture.model import NONE

from ..program.model import Annotate, Await, Collective, Copy, Kernel
from .compiled import Compiled, Flags
from .rank import DeviceTimes
from .small_tasks import enum_ids
from .streams import COMPUTE_STREAM, OTHER_STREAM, PROFILING_STREAM, task_numbers

PROFILING_NS = 20


@dataclass(frozen=True, slots=True)
class DeviceRecords:
    """Tasks of the compute stream and of the other one.

    kernels: ``kind`` is a row of ``kernel_kinds``; ``kernel_run``: the run of each kernel, step x
    items + item.
    """

    tasks: Tasks
    kernels: Kernels
    kernel_run: Integers
    kernel_kinds: KernelKinds
    copies: Copies


def _kernel_kinds(compiled: Compiled, texts: Texts) -> KernelKinds:
    """The texts and blocks of every kernel that a program may run."""
    columns = {
        name: texts.numbers(getattr(kernel, name) for kernel in compiled.kinds)
        for name in KernelKinds.counted()
        if name in Kernel.__slots__
    }
    return KernelKinds.filled(
        len(compiled.kinds),
        **columns,
        blocks=compiled.kernel_column("blocks"),
        mix_blocks=compiled.kernel_column("mix_blocks"),
    )


def device_records(
    compiled: Compiled,
    kind: Integers,
    times: DeviceTimes,
    connections: Integers,
    device: int,
    texts: Texts,
    marks: bool,
) -> DeviceRecords:
    """Rows of all items but the tasks of collectives' own streams.

    ``kind``, ``connections`` (of each item's task on the compute stream): shape (steps, items).
    Without ``marks`` the tasks of mstx ranges are left out; the others keep their numbers.

    Enclosing tasks come last; identities count from 0 in the order of the rows.
    """
    steps, items = kind.shape
    hidden = np.zeros(items, bool)
    hidden[compiled.places(Annotate)] = not marks
    on_device = np.flatnonzero((compiled.on_compute | compiled.on_other) & ~hidden)
    run = (np.arange(steps)[:, None] * items + on_device).reshape(-1)
    kinds = kind.reshape(-1)[run]
    enclosed = compiled.runs(kinds, compiled.enclosed)
    task_type = texts.numbers(kernel.task_type for kernel in compiled.kinds)
    of_item = texts.numbers(_task_type(compiled, place) for place in on_device.tolist())
    launched = kinds >= 0
    text = np.tile(of_item, steps)
    text[launched] = task_type[kinds[launched]]
    stream = np.tile(np.where(compiled.on_other, OTHER_STREAM, COMPUTE_STREAM)[on_device], steps)
    number = np.zeros((steps, items), np.int64)
    for flags in (compiled.on_compute, compiled.on_other):
        order = np.arange(steps)[:, None] * flags.sum() + np.cumsum(flags) - 1
        number = np.where(flags, task_numbers(order), number)
    tasks = Tasks.filled(
        len(run),
        start=times.start.reshape(-1)[run],
        end=times.end.reshape(-1)[run],
        device=device,
        stream=stream,
        number=number.reshape(-1)[run],
        context=np.where(enclosed, 0, NONE),
        connection=connections.reshape(-1)[run],
        identity=np.arange(len(run)),
        kind=text,
    )
    around = tasks.take(enclosed)
    around_run = run[enclosed]
    around = replace(
        around,
        start=times.slot_start.reshape(-1)[around_run],
        end=times.slot_end.reshape(-1)[around_run],
        context=np.full(len(around_run), NONE),
        identity=len(run) + np.arange(len(around_run)),
        kind=texts.numbers(compiled.enclosing)[kinds[enclosed]],
    )
    rows = np.flatnonzero(launched)
    return DeviceRecords(
        tasks=Tasks.joined([tasks, around]),
        kernels=Kernels(rows, kinds[rows]),
        kernel_run=run[rows],
        kernel_kinds=_kernel_kinds(compiled, texts),
        copies=_copies(compiled, run, items),
    )


def profiling_tasks(moments: tuple[int, int], connection: int, device: int, texts: Texts) -> Tasks:
    """The profiler's own tasks at the bounds of the session, on a stream of their own."""
    start = np.array(moments, np.int64)
    return Tasks.filled(
        2,
        start=start,
        end=start + np.array([0, PROFILING_NS]),
        device=device,
        stream=PROFILING_STREAM,
        number=task_numbers(np.arange(2)),
        connection=connection,
        identity=np.arange(2),
        kind=texts.numbers(("PROFILING_ENABLE", "PROFILING_DISABLE")),
    )


def _task_type(compiled: Compiled, place: int) -> str:
    item = compiled.program.items[place]
    if isinstance(item, Await):
        return "EVENT_WAIT"
    if isinstance(item, Collective):
        return "EVENT_RECORD"
    return "MsTx" if isinstance(item, Annotate) else "MEMCPY_ASYNC"


def _copies(compiled: Compiled, run: Integers, items: int) -> Copies:
    operations = enum_ids("ENUM_MEMCPY_OPERATION")
    size = np.full(items, NONE)
    operation = np.full(items, NONE)
    for place in compiled.places(Copy):
        item = compiled.program.items[place]
        if isinstance(item, Copy):
            size[place], operation[place] = item.size, operations[item.operation]
    chosen: Flags = size[run % items] >= 0
    rows = np.flatnonzero(chosen)
    return Copies(rows, size[run[rows] % items], operation[run[rows] % items])
