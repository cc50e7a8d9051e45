"""How long processors and processes worked, on the device and on the host."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers
from ascend_ref.derive.host_usage import STATES

from ..samples.host import PROCESSORS, record_host_samples, threads
from ..samples.scene import Columns
from ..samples.traffic import Curve, Flow
from .functions import ai_cpu_runs
from .scene import HOST, RecordScene, by_device

DEVICE_PROCESSES = {1_021: "aicpu_scheduler", 874: "hdcd", 861: "slogd", 902: "dmp_daemon"}
"""Processes of the device's system; the first runs the kernels of AI CPU."""
DAEMONS = (1_412, 1_633, 1_187)
"""Ids of the other processes of the host."""
SYSTEM_SHARE = 5
INTERRUPT_SHARE, SOFT_SHARE = 200, 100
"""One in so many parts of a processor's work is the system's, is for interrupts."""
CONTROL_PER_MILLE = (10, 40)
"""Of the time, Ctrl CPU serves the driver."""
TICK = 10_000_000
"""ns in which systems count the time of processors."""
DEVICE_UP, HOST_UP = 60_000_000_000, 173_856_000_000_000
"""ns for which the systems had been up when the session began."""
EARLIER_PER_MILLE = (20, 200)
"""Of that time, each processor worked."""
PROCESS_PER_MILLE = (1, 5)
"""Of that time, each process of the system ran."""


def control_cores(ai_cpu_cores: int) -> int:
    """Processors of Ctrl CPU: what AI CPU leaves of a power of two (inferred)."""
    return (1 << ai_cpu_cores.bit_length()) - ai_cpu_cores


def cpu_usage(scene: RecordScene) -> Columns:
    """Of the device's processors as far as they are sampled, then of the host's."""
    parts = {}
    switches = scene.scenario.capture
    if switches.sys_profiling:
        parts[scene.timeline.device] = _device_usage(scene)
    if "cpu" in switches.host_sys_usage:
        time, cpu, worked, lengths = host_load(scene)
        kinds = scene.texts.numbers(["host"] * len(time))
        earlier = (
            HOST_UP * scene.noise("earlier host").between(*EARLIER_PER_MILLE, PROCESSORS) // 1_000
        )
        states = _states(_so_far(worked, earlier), _so_far(lengths, earlier * 0 + HOST_UP))
        parts[HOST] = {"time": time, "cpu": cpu, "type": kinds, **states}
    return by_device(parts)


def _device_usage(scene: RecordScene) -> Columns:
    """Ctrl CPU comes first; the kernels of AI CPU are dealt to its processors in turn."""
    grid = scene.sampled("cpu_usage", scene.scenario.capture.sys_profiling)
    lengths, count = np.diff(grid), scene.machine.chip.ai_cpu_cores
    control = control_cores(count)
    runs = ai_cpu_runs(scene)
    draws = scene.noise("cpu_usage")
    base = draws.between(*CONTROL_PER_MILLE, control * len(lengths)).reshape(control, -1)
    busy = [lengths * base // 1_000]
    for core in range(count):
        own = slice(core, None, count)
        busy.append(_busy(runs.start[own], runs.end[own], grid)[None])
    worked = np.minimum(np.concatenate(busy), lengths)
    cores = control + count
    kinds = scene.texts.numbers(["ctrlcpu"] * control + ["aicpu"] * count)
    earlier = DEVICE_UP * scene.noise("earlier device").between(*EARLIER_PER_MILLE, cores) // 1_000
    up = np.full(cores, DEVICE_UP)
    states = _states(_so_far(worked.T.reshape(-1), earlier), _so_far(np.repeat(lengths, cores), up))
    return {
        "time": np.repeat(grid[1:], cores),
        "cpu": np.tile(np.arange(cores), len(lengths)),
        "type": np.tile(kinds, len(lengths)),
        **states,
    }


def _so_far(added: Integers, earlier: Integers) -> Integers:
    """What there was earlier of each column and what the rows have added to it by then."""
    so_far: Integers = earlier + np.cumsum(added.reshape(-1, len(earlier)), axis=0)
    return so_far.reshape(-1)


def _states(worked: Integers, lengths: Integers) -> Columns:
    """How a processor's time divides, in ticks; what it does not work it is idle."""
    found = {state: np.zeros(len(worked), np.int64) for state in STATES}
    found["sys"] = worked // SYSTEM_SHARE
    found["irq"] = worked // INTERRUPT_SHARE
    found["soft"] = worked // SOFT_SHARE
    found["user"] = worked - found["sys"] - found["irq"] - found["soft"]
    found["idle"] = lengths - worked
    return {state: spent // TICK for state, spent in found.items()}


def _busy(start: Integers, end: Integers, grid: Integers) -> Integers:
    """ns between neighbouring moments that some runs cover."""
    flow = Flow(start, end, end - start, np.zeros(len(start), np.int64))
    return np.diff(Curve(flow, grid).read(grid))


def host_load(scene: RecordScene) -> tuple[Integers, Integers, Integers, Integers]:
    """Samples of the host's processors: when, which, how long it worked, and since when (ns)."""
    found = record_host_samples(scene, ["cpu"]).get("CPU_USAGE")
    if found is None:
        empty = np.empty(0, np.int64)
        return empty, empty, empty, empty
    time = found["timestampNs"]
    moments = np.unique(time)
    lengths = np.repeat(np.diff(moments, prepend=_first(moments, scene)), PROCESSORS)
    hundredths = np.rint(found["usage"] * 100).astype(np.int64)
    return time, found["cpuId"], lengths * hundredths // 10_000, lengths


def _first(moments: Integers, scene: RecordScene) -> int:
    """Since when the first sample counts: as long as the second does, but within the session."""
    earlier = 2 * int(moments[0]) - int(moments[1]) if len(moments) > 1 else 0
    return max(earlier, scene.timeline.session[0])


def process_cpu_usage(scene: RecordScene) -> Columns:
    """Of the device's processes as far as they are sampled, then of the host's."""
    parts = {}
    switches = scene.scenario.capture
    if switches.sys_pid:
        grid = scene.sampled("process_cpu_usage", switches.sys_pid)
        lengths, chip = np.diff(grid), scene.machine.chip
        runs = ai_cpu_runs(scene)
        own = _busy(runs.start, runs.end, grid)
        draws = scene.noise("process_cpu_usage")
        shares = draws.between(*CONTROL_PER_MILLE, len(lengths) * (len(DEVICE_PROCESSES) - 1))
        others = lengths[:, None] * shares.reshape(len(lengths), -1) // 4_000
        cores = chip.ai_cpu_cores + control_cores(chip.ai_cpu_cores)
        busy = np.column_stack([own, others])
        before = DEVICE_UP * draws.between(*PROCESS_PER_MILLE, len(DEVICE_PROCESSES)) // 1_000
        system = (DEVICE_UP + np.cumsum(lengths)) * cores
        found = _processes(scene, grid[1:], DEVICE_PROCESSES, before + np.cumsum(busy, 0), system)
        parts[scene.timeline.device] = found
    if "cpu" in switches.host_sys_usage:
        parts[HOST] = _host_processes(scene)
    return by_device(parts)


def _host_processes(scene: RecordScene) -> Columns:
    """The profiled process works on its threads, the others are the rest of the load.

    It begins with the session, the others ran before.
    """
    time, _, worked, lengths = host_load(scene)
    moments = np.unique(time)
    interval = lengths.reshape(-1, PROCESSORS)[:, 0]
    all_worked = worked.reshape(-1, PROCESSORS).sum(axis=1)
    own = np.zeros(len(moments), np.int64)
    if len(moments):
        grid = np.append(moments[0] - interval[0], moments)
        for flow in threads(scene.timeline):
            own += np.diff(Curve(flow, grid).read(grid))
    own = np.minimum(own, all_worked)
    other = (all_worked - own) // (2 * len(DAEMONS))
    busy = np.column_stack([own, *[other] * len(DAEMONS)])
    draws = scene.noise("earlier processes of the host")
    before = HOST_UP * draws.between(*PROCESS_PER_MILLE, 1 + len(DAEMONS)) // 1_000
    before[0] = 0
    system = (HOST_UP + np.cumsum(interval)) * PROCESSORS
    ran = before + np.cumsum(busy, axis=0)
    return _processes(scene, moments, host_processes(scene), ran, system)


def host_processes(scene: RecordScene) -> dict[int, str]:
    """Processes of the host by id, the profiled one first."""
    names = scene.names
    return {
        scene.capture.origin.pid: names.process,
        **dict(zip(DAEMONS, names.daemons, strict=True)),
    }


def _processes(
    scene: RecordScene,
    time: Integers,
    names: Mapping[int, str],
    ran: npt.NDArray[np.int64],
    system: Integers,
) -> Columns:
    """ran: ns of shape (samples, processes)."""
    worked = ran.reshape(-1) // TICK
    zero = np.zeros(len(worked), np.int64)
    return {
        "time": np.repeat(time, len(names)),
        "pid": np.tile(np.array(list(names), np.int64), len(time)),
        "name": np.tile(scene.texts.numbers(names.values()), len(time)),
        "user": worked - worked // SYSTEM_SHARE,
        "sys": worked // SYSTEM_SHARE,
        "children_user": zero,
        "children_sys": zero,
        "system": np.repeat(system // TICK, len(names)),
    }
