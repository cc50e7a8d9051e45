"""Functions that compute tables (derived.yaml), for agreements to compare with what files say."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa

from . import (
    activity,
    communication,
    framework,
    melted,
    operators,
    records,
    statistics,
    steps,
)
from .reading import Asked

FUNCTIONS: Mapping[str, Callable[[Asked], pa.Table | pa.RecordBatchReader]] = {
    **statistics.FUNCTIONS,
    "session": records.session,
    "shown_task": records.shown,
    "task_batch": records.batches,
    "scheduled": records.scheduled,
    "wait_time": operators.wait,
    "core_time": operators.core_times,
    "counters": melted.counters,
    "reductions": melted.reductions,
    "overlap": activity.overlap,
    "device_step": steps.device_step,
    "step_trace_time": steps.step_trace_time,
    "step_of_kernel": steps.step_of_kernel,
    "communication_times": communication.communication_times,
    "communication_links": communication.communication_links,
    "communication_packets": communication.communication_packets,
    "communication_matrix": communication.communication_matrix,
    "operator_details": framework.operator_times,
    "demand": records.demands,
    "blocks": records.blocks,
}
"""By the names that the documents have for them."""
