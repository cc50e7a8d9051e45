"""What the JSON files of a profile say about the capture and the machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ascend_ref.capture import Origin, Steps, Switches
from ascend_ref.capture.metric_groups import aic_metrics
from ascend_ref.raw.clocks import DEFAULT_FREQUENCY
from ascend_ref.raw.moments import MOMENTS, Moments
from ascend_spec.db.model import Revision

PUBLIC_SOURCE = "2025-12-25"
"""Date of the first public source; what it states besides began no later."""

VERSIONS = {"torch_npu_version": "2.14.0", "cann_version": "9.0.0"}
"""What profilers since 2025-12 say of the software; the numbers are those of the simulated host."""


Form = Literal["text", "db"]
"""What the framework's profiler writes a profile as (its export type)."""


class Schedule(NamedTuple):
    """The schedule of the framework's profiler, in steps."""

    wait: int
    active: int
    warmup: int
    repeat: int
    skip_first: int

    @classmethod
    def of(cls, steps: Steps) -> Schedule:
        """A schedule that records these steps: equal runs of numbers with equal gaps between."""
        numbers = steps.number
        if not len(numbers):
            return cls(wait=0, active=0, warmup=0, repeat=0, skip_first=0)
        gaps = np.diff(numbers)
        runs = np.flatnonzero(gaps > 1)
        active = int(runs[0]) + 1 if runs.size else len(numbers)
        wait = int(gaps[runs[0]]) - 1 if runs.size else 0
        return cls(wait, active, 0, runs.size + 1, max(int(numbers[0]) - wait, 0))


def profiler_info(
    revision: Revision,
    switches: Switches,
    schedule: Schedule,
    origin: Origin,
    forms: Sequence[Form] = ("db",),
    moments: Moments = MOMENTS,
) -> dict[str, Any]:
    """profiler_info: the switches of a capture, and the clocks at its bounds (consumers.md 3.2).

    forms: what the profile is written as. After an abnormal end there is no ``end_info``. Raises
    ``ValueError`` for a group of metrics that the framework's profiler does not have.
    """
    start = np.array([origin.start // 1_000 * 1_000])
    found: dict[str, Any] = {
        "config": {
            "common_config": {
                "activities": [
                    f"ProfilerActivity.{name}"
                    for name, on in (("CPU", switches.cpu), ("NPU", switches.npu))
                    if on
                ],
                "schedule": schedule._asdict(),
                "record_shapes": switches.record_shapes,
                "profile_memory": switches.memory,
                "with_stack": switches.stack,
                "with_flops": False,
                "with_modules": False,
            },
            "experimental_config": _experimental(revision, switches, forms),
        },
        "start_info": {
            "syscnt_enable": moments.host_frequency != DEFAULT_FREQUENCY,
            "freq": int(moments.host_frequency),
            "start_cnt": int(moments.clocks(origin.start).host.ticks(start)[0]),
            "start_monotonic": moments.monotonic,
        },
    }
    if origin.end is not None:
        found["end_info"] = {
            "collectionTimeEnd": origin.end,
            "MonotonicTimeEnd": moments.monotonic + origin.end - origin.start,
        }
    if revision.date >= PUBLIC_SOURCE:
        found |= VERSIONS
    return {**found, "rank_id": origin.rank}


def _experimental(revision: Revision, switches: Switches, forms: Sequence[Form]) -> dict[str, Any]:
    options: dict[str, Any] = {
        "_profiler_level": f"Level{switches.level}",
        "_aic_metrics": _aic_metrics(switches),
        "_l2_cache": switches.l2,
        "_msprof_tx": switches.mstx,
        "_data_simplification": True,
        "record_op_args": False,
        # Before there was a list of forms, a profile had one.
        "_export_type": forms[0],
        "_op_attr": False,
        "_gc_detect_threshold": 0 if switches.gc else None,
    }
    if revision.date < PUBLIC_SOURCE:
        return options
    return options | {
        "_msprof_tx": False,
        "_export_type": list(forms),
        "_mstx": switches.mstx,
        "_mstx_domain_include": [],
        "_mstx_domain_exclude": [],
        "_host_sys": list(switches.host_sys),
        "_sys_io": switches.sys_io > 0,
        "_sys_interconnection": switches.sys_interconnection > 0,
    }


def _aic_metrics(switches: Switches) -> str:
    group = switches.aic_metrics if switches.level else None
    if group not in aic_metrics():
        known = ", ".join(other for other in aic_metrics() if other)
        raise ValueError(
            f"aic_metrics: {group!r}; expected None or one of {known}: "
            "the framework's profiler has no other"
        )
    return aic_metrics()[group]
