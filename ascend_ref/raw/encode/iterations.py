"""The points of iterations of graphs, as devices note them (ge-profiling 3.3)."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Capture, Integers

from ..iterations import Points, of_device, points_of
from .tree import RawTree, Rows


def write_iterations(
    capture: Capture, tree: RawTree, device: int, noted: Points | None = None
) -> None:
    """Write the iterations of a device, with its sums of gradients and its readings of data.

    noted: the points themselves at Unix ns, each on the stream that is its lane, in place of those
    that the capture makes up.
    """
    ticks = tree.side[device].device.ticks
    if noted is None:
        points = points_of(of_device(capture.records, device), ticks)
        streams = _streams(capture, device, points)
    else:
        points = noted._replace(time=ticks(noted.time))
        streams = points.lane
    rows = step_rows(tree, len(points.tag))
    rows["indexId"] = points.number
    rows["modelId"] = points.model
    rows["streamId"] = streams
    rows["tagId"] = points.tag
    tree.track(rows, points.time, device)


def step_rows(tree: RawTree, count: int) -> Rows:
    """Records of steps in the record of the run of a device."""
    record = "STEP_TRACE_V6" if tree.has("ts_track", "STEP_TRACE_V6") else "STEP_TRACE"
    rows = tree.rows("ts_track", count, record)
    rows["tag"] = tree.kind("ts_track", record)
    return rows


def _streams(capture: Capture, device: int, points: Points) -> Integers:
    """That of the first task of the model; lanes are streams behind it."""
    tasks = capture.tasks
    own = np.flatnonzero(tasks.device == device)
    own = own[np.argsort(tasks.start[own], kind="stable")]
    found = points.lane.copy()
    for model in np.unique(points.model).tolist():
        of_model = own[tasks.model[own] == model]
        if len(of_model):
            found[points.model == model] += tasks.stream[of_model[0]]
    return found
