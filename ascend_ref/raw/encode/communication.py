"""What HCCL reports of collectives and of their tasks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.capture import Capture, Integers
from ascend_ref.derive.matching import greatest, groups, least
from ascend_ref.derive.transfer_estimates import transfer_estimates

from ..communication import exported_name, item_of, recorded_types, type_of
from ..fields import put, taken
from ..vocabulary import level, numbered
from .calls import MASTER, SLAVE, HostTicks
from .tracks import Tracks, moments_within, task_rows
from .tree import RawTree

_ALL_ONES = (1 << 32) - 1


def write_communication(
    capture: Capture,
    tree: RawTree,
    ticks: HostTicks,
    tracks: Tracks,
    items: npt.NDArray[np.uint64],
) -> list[str]:
    """Write collectives and their tasks, and into ``items`` which collective a call launched.

    Level 0 collects of the tasks which sub-tasks there are. Returns what no record holds.
    """
    lost = _write_operators(capture, tree, ticks, items)
    if tree.writes("context_id_info"):
        _write_contexts(capture, tree, ticks, tracks, items)
    if capture.switches.level:
        _write_transfers(capture, tree, tracks)
    return lost


def _write_contexts(
    capture: Capture,
    tree: RawTree,
    ticks: HostTicks,
    tracks: Tracks,
    items: npt.NDArray[np.uint64],
) -> None:
    tasks, transfers = capture.tasks, capture.transfers
    task = task_rows(capture, transfers.task)
    task = task[tasks.context[task] >= 0]
    track, context = tracks.of_task[task], tasks.context[task]
    first, owner = groups(track)
    count = len(first)
    rows = tree.rows("context_id_info", count, level=level("HCCL_NODE"))
    rows["threadId"] = tracks.thread[track[first]]
    rows["timeStamp"] = tracks.moment[track[first]]
    call = ticks.rows_of(tasks.connection[task[first]])
    rows["opName"] = np.where(call >= 0, np.append(items, np.uint64(0))[call], np.uint64(0))
    # One record for each call, with the first and the last of a range.
    rows["ctxIdNum"] = 2
    rows["ctxIds"][:, 0] = least(owner, context, count)
    rows["ctxIds"][:, 1] = greatest(owner, context, count)
    tree.add("context_id_info", rows)


def _write_operators(
    capture: Capture, tree: RawTree, ticks: HostTicks, items: npt.NDArray[np.uint64]
) -> list[str]:
    collectives, every = capture.collectives, capture.texts.all
    call = ticks.rows_of(collectives.connection)
    row = ticks.inner(collectives.connection)
    own = np.flatnonzero(row >= 0)
    own = own[np.argsort(row[own], kind="stable")]
    lost = len(collectives) - len(own)
    found = [f"{lost:,} collectives whose launch is not recorded"] if lost else []
    if not len(own):
        return found
    moment, _ = moments_within(ticks.tree, row[own])
    thread = ticks.tree.thread[row[own]]
    names = [item_of(every[one]) for one in collectives.name[own].tolist()]
    plain = [every[one] for one in collectives.name[own].tolist()]
    hashes = np.array(
        [tree.hash(item or name) for item, name in zip(names, plain, strict=True)], np.uint64
    )
    items[call[own]] = hashes

    basic = tree.rows("node_basic_info", len(own))
    basic["threadId"], basic["timeStamp"] = thread, moment
    basic["opName"] = hashes
    types = [tree.hash(type_of(every[one])) for one in collectives.kind[own].tolist()]
    basic["opType"] = np.array(types, np.uint64)
    basic["taskType"] = numbered("ge_task_types")["HCCL"]
    if capture.switches.level:
        tree.add("node_basic_info", basic)

    declaration = tree.declaration("hccl_op_info")
    rows = tree.rows("hccl_op_info", len(own))
    rows["threadId"], rows["timeStamp"] = thread, moment
    put(declaration, rows, "relay", np.maximum(collectives.relay[own], 0))
    put(declaration, rows, "retry", np.maximum(collectives.retry[own], 0))
    rows["dataType"] = collectives.data_type[own]
    rows["algType"] = tree.hashes(capture.texts, collectives.algorithm[own])
    rows["count"] = collectives.count[own]
    groups = tree.hashes(capture.texts, capture.groups.name[collectives.group[own]])
    rows["groupName"] = groups
    tree.add("hccl_op_info", rows)
    return found + _renamed(collectives.group[own], groups, names, plain, moment)


def _renamed(
    group: Integers,
    hashes: npt.NDArray[np.uint64],
    names: list[str | None],
    plain: list[str],
    moment: Integers,
) -> list[str]:
    """Exporters number collectives anew: how many get another name."""
    seen: dict[int, int] = {}
    other = 0
    for one in np.argsort(moment, kind="stable").tolist():
        index = seen.get(int(group[one]), 0)
        seen[int(group[one])] = index + 1
        name = exported_name(names[one] or plain[one], int(hashes[one]), index)
        other += name != plain[one]
    return [f"the names of {other:,} collectives, which exporters number anew"] if other else []


def _write_transfers(capture: Capture, tree: RawTree, tracks: Tracks) -> None:
    transfers, tasks = capture.transfers, capture.tasks
    if not len(transfers):
        return
    task = task_rows(capture, transfers.task)
    track = tracks.of_task[task]
    group = capture.collectives.group[transfers.collective]
    rows = tree.rows("hccl_info", len(transfers))
    kinds = numbered("hccl_types")
    rows["type"] = np.where(transfers.master == 1, kinds[MASTER], kinds[SLAVE])
    rows["threadId"] = tracks.thread[track]
    rows["timeStamp"] = tracks.moment[track]
    rows["itemId"] = tree.hashes(capture.texts, transfers.kind)
    rows["groupName"] = tree.hashes(capture.texts, capture.groups.name[group])
    rows["localRank"] = transfers.source
    rows["remoteRank"] = transfers.target
    rows["rankSize"] = capture.groups.size[group]
    rows["planeID"] = transfers.plane
    rows["ctxId"] = np.where(tasks.context[task] >= 0, tasks.context[task], _ALL_ONES)
    rows["notifyID"] = transfers.notify.astype(np.uint64)
    kind = pa.DictionaryArray.from_arrays(transfers.kind, pa.array(capture.texts.all, pa.string()))
    rows["durationEstimated"] = transfer_estimates(kind, transfers.size)
    rows["dataSize"] = np.maximum(transfers.size, 0)
    rows["dataType"] = recorded_types(transfers.data_type)
    rows["linkType"] = recorded_types(transfers.link)
    rows["transportType"] = recorded_types(transfers.transport)
    rows["rdmaType"] = recorded_types(transfers.rdma)
    order = np.lexsort((rows["ctxId"], tasks.identity[task], rows["timeStamp"]))
    tree.write("hccl_info", taken(rows, order))
