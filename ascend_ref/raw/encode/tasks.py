"""Tasks as the host launched them and as the schedulers of the devices ran them."""

from __future__ import annotations

import construct
import numpy as np

from ascend_ref.capture import Capture, Integers
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import groups, values_at
from ascend_spec import raw_catalog

from ..fields import fill, joined, put, taken, time_field
from ..task_kinds import FFTS_PLUS, FLIP, entry, has_whole_numbers, is_of_device
from ..vocabulary import level, numbered
from .calls import HostTicks
from .tracks import Tracks, task_rows
from .tree import RawTree, Rows

_FIRST_UNKNOWN = 134
_SHIFT = 16
_START = 0
_SUB_START = 34
_FLIP_TAG = 14
"""Kinds of records (raw-prof 4.7); the end follows the start."""
_STREAMS = 1 << 11
"""Streams that the log of stars chips numbers plainly."""


def write_tasks(capture: Capture, tree: RawTree, ticks: HostTicks, tracks: Tracks) -> list[str]:
    """Write what host and devices recorded of the tasks.

    Returns what of them no record holds.
    """
    kinds = _host_kinds(capture, tree, tracks)
    _write_tracks(capture, tree, tracks, kinds)
    lost = []
    for device in tree.devices:
        own = np.flatnonzero(capture.tasks.device == device)
        lost += _write_log(capture, tree, tracks, own, device)
    return lost + _lost(capture, tree, ticks, tracks)


def _host_kinds(capture: Capture, tree: RawTree, tracks: Tracks) -> Integers:
    """The number of the kind of each launch; the dictionary names it."""
    kind = capture.tasks.kind[tracks.task]
    every = capture.texts.all
    found = {}
    for one in np.unique(kind).tolist():
        name = FFTS_PLUS if is_of_device(every[one], tree.chip) else every[one]
        known = numbered("runtime_task_types").get(name)
        found[one] = (
            tree.type_number(level("RUNTIME"), name, _FIRST_UNKNOWN)
            if known is None
            else tree.known_type(level("RUNTIME"), known, name)
        )
    return np.array([found[one] for one in kind.tolist()], np.int64)


def _write_tracks(capture: Capture, tree: RawTree, tracks: Tracks, kinds: Integers) -> None:
    tasks, task = capture.tasks, tracks.task
    declaration = tree.declaration("task_track")
    flips = _flips(capture, tree, tracks)
    rows = tree.rows("task_track", len(task) + len(flips))
    at = np.concatenate([np.arange(len(task)), flips])
    source = task[at]
    is_flip = np.arange(len(at)) >= len(task)
    rows["threadId"] = tracks.thread[at]
    rows["timeStamp"] = tracks.moment[at] - is_flip
    put(declaration, rows, "deviceId", tasks.device[source])
    rows["streamId"] = tasks.stream[source]
    batch = np.where(is_flip, tracks.batch[at] - 1, tracks.batch[at])
    number = np.where(is_flip, (1 << _SHIFT) - 1, tasks.number[source])
    if not has_whole_numbers(tree.chip):
        number = number % (1 << _SHIFT) + (batch << _SHIFT)
    rows["taskId"] = number
    rows["taskType"] = kinds[at]
    rows["taskType"][is_flip] = numbered("runtime_task_types")[FLIP]
    if len(flips):
        tree.known_type(level("RUNTIME"), numbered("runtime_task_types")[FLIP], FLIP)
    _put_kernels(capture, tree, tracks, rows[: len(task)])
    order = np.lexsort((~is_flip, rows["timeStamp"]))
    tree.write("task_track", taken(rows, order))


def _put_kernels(capture: Capture, tree: RawTree, tracks: Tracks, rows: Rows) -> None:
    """Name and size of kernels."""
    kernels, kinds = capture.kernels, capture.kernel_kinds
    if not len(kernels):
        return
    task = task_rows(capture, kernels.task)
    at = tracks.of_task[task]
    rows["kernelName"][at] = tree.hashes(capture.texts, kinds.name[kernels.kind])
    info = rows["extInfo"]["kernelInfo"]
    info["numBlocks"][at] = kinds.blocks[kernels.kind]
    simt = np.flatnonzero(kinds.grid[kernels.kind] >= 0)
    every = capture.texts.all
    for own, place in zip(kernels.kind[simt].tolist(), at[simt].tolist(), strict=True):
        for name, text in (("gridDim", kinds.grid[own]), ("blockDim", kinds.thread_block[own])):
            sizes = [int(one) for one in every[int(text)].split(",")] if text >= 0 else [0, 0, 0]
            for axis, size in zip("xyz", sizes, strict=False):
                rows["extInfo"]["simtKernelInfo"][name][axis][place] = size


def _flips(capture: Capture, tree: RawTree, tracks: Tracks) -> Integers:
    """The launches before which the numbers of their stream begin again."""
    if has_whole_numbers(tree.chip):
        return np.zeros(0, np.int64)
    tasks, task = capture.tasks, tracks.task
    wrapped = np.flatnonzero(tracks.batch > 0)
    order = wrapped[np.lexsort((tasks.start[task[wrapped]], tasks.identity[task[wrapped]]))]
    first, _ = groups(tasks.device[task[order]], tasks.stream[task[order]], tracks.batch[order])
    return order[first]


def _write_log(
    capture: Capture, tree: RawTree, tracks: Tracks, own: Integers, device: int
) -> list[str]:
    """The log of a device: a start and an end of each task, in order of time."""
    tasks = capture.tasks
    clock = tree.side[device].device
    kind = raw_catalog().chips[tree.chip].tasks
    moments = np.stack([clock.ticks(tasks.start[own]), clock.ticks(tasks.end[own])])
    whole = tasks.context[own] == NONE
    if kind == "hwts":
        _write_hwts(capture, tree, own[whole], moments[:, whole], device)
    elif kind in ("stars", "stars-v6"):
        _write_stars(capture, tree, own, moments, device, v6=kind == "stars-v6")
        whole |= kind == "stars"
    else:
        return [f"tasks of chip {tree.chip}, whose log is not described"] if len(own) else []
    _write_flips(capture, tree, tracks, device)
    left = int(np.sum(~whole))
    return [f"{left:,} sub-tasks of a chip whose log has none"] if left else []


def _write_hwts(
    capture: Capture, tree: RawTree, own: Integers, moments: Integers, device: int
) -> None:
    tasks = capture.tasks
    declaration = tree.declaration("hwts")
    rows = tree.rows("hwts", 2 * len(own))
    columns = {
        "taskType": np.tile(_entries(capture, tree, own), 2),
        "taskId": np.tile(tasks.number[own], 2),
        "streamId": np.tile(tasks.stream[own], 2),
    }
    fill(declaration, rows, columns | _ends(declaration, moments, "sysTag", _START))
    tree.write("hwts", _in_order(declaration, rows), device)


def _write_stars(
    capture: Capture,
    tree: RawTree,
    own: Integers,
    moments: Integers,
    device: int,
    *,
    v6: bool,
) -> None:
    tasks = capture.tasks
    whole = (tasks.context[own] == NONE) if not v6 else np.ones(len(own), np.bool_)
    name = "STARS_LOG_V6" if v6 else "STARS_LOG"
    declaration = tree.declaration("stars_soc", name)
    plain = tree.rows("stars_soc", 2 * int(whole.sum()), name)
    chosen = own[whole]
    columns = {
        "taskType": np.tile(_entries(capture, tree, chosen), 2),
        "taskId": np.tile(tasks.number[chosen], 2),
    }
    if not v6:
        columns["streamId"] = np.tile(tasks.stream[chosen], 2)
    columns |= _ends(declaration, moments[:, whole], "funcType", _START)
    fill(declaration, plain, columns)
    rows = plain
    if not whole.all():
        parts = own[~whole]
        sub = tree.rows("stars_soc", 2 * len(parts), "FFTS_LOG")
        inner = tree.declaration("stars_soc", "FFTS_LOG")
        columns = {
            "streamId": np.tile(tasks.stream[parts], 2),
            "taskId": np.tile(tasks.number[parts], 2),
            "subTaskType": np.tile(_sub_tasks(capture, parts), 2),
            "subTaskId": np.tile(tasks.context[parts], 2),
        }
        fill(inner, sub, columns | _ends(inner, moments[:, ~whole], "funcType", _SUB_START))
        put(inner, sub, "fftsType", numbered("ffts_types")["FFTS+"])
        rows = joined([plain, sub])
    tree.write("stars_soc", _in_order(declaration, rows), device, record=name)


def _ends(
    declaration: construct.Struct, moments: Integers, kind: str, first: int
) -> dict[str, Integers]:
    """Starts, then ends: their kinds and their times, by field."""
    time, _ = time_field(declaration)
    kinds = np.repeat([first, first + 1], moments.shape[1])
    return {kind: kinds, time: moments.reshape(-1)}


def _in_order(declaration: construct.Struct, rows: Rows) -> Rows:
    """By time; what begins and ends at once begins first."""
    field, _ = time_field(declaration)
    return taken(rows, np.argsort(rows[field], kind="stable"))


def _entries(capture: Capture, tree: RawTree, own: Integers) -> Integers:
    every = capture.texts.all
    kinds, place = np.unique(capture.tasks.kind[own], return_inverse=True)
    return np.array([entry(every[one], tree.chip) for one in kinds.tolist()], np.int64)[place]


def _sub_tasks(capture: Capture, parts: Integers) -> Integers:
    """Kinds of sub-tasks: by their own name, of kernels that the host names by their cores."""
    known = numbered("sub_tasks")
    every = capture.texts.all
    names = np.array([known.get(every[one], NONE) for one in range(len(every))], np.int64)
    found = names[capture.tasks.kind[parts]]
    task = task_rows(capture, capture.kernels.task)
    by_core = np.full(len(capture.tasks), known["AIC"])
    core = capture.kernel_kinds.core[capture.kernels.kind]
    by_core[task] = np.where(core >= 0, values_at(names, core), known["AIC"])
    return np.where(found >= 0, found, by_core[parts])


def _write_flips(capture: Capture, tree: RawTree, tracks: Tracks, device: int) -> None:
    """Where numbers begin again, by the clock of the device."""
    if not tree.writes("ts_track"):
        return
    flips = _flips(capture, tree, tracks)
    flips = flips[capture.tasks.device[tracks.task[flips]] == device]
    rows = tree.rows("ts_track", len(flips), "TS_FLIP")
    tasks, task = capture.tasks, tracks.task[flips]
    rows["tag"] = _FLIP_TAG
    rows["streamId"] = tasks.stream[task]
    rows["flipNum"] = tracks.batch[flips]
    tree.track(rows, tree.side[device].device.ticks(tasks.start[task]), device)


def _lost(capture: Capture, tree: RawTree, ticks: HostTicks, tracks: Tracks) -> list[str]:
    lost = []
    models = int(np.sum((capture.tasks.model >= 0) & (ticks.models(capture.tasks.connection) < 0)))
    if models:
        lost.append(f"the model of {models:,} tasks, which no call of a model encloses")
    if tracks.misplaced:
        lost.append(f"the calls of {tracks.misplaced:,} tasks, which leave no room for a launch")
    if raw_catalog().chips[tree.chip].tasks == "stars":
        wide = int(np.sum(capture.tasks.stream >= _STREAMS))
        lost += [f"{wide:,} tasks of streams from {_STREAMS:,} on"] if wide else []
    return lost
