"""Runs of AI CPU kernels, and readings of prepared data, as AI CPUs note them (raw-prof 4.10)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ascend_ref.capture import Capture, Integers
from ascend_ref.capture.records import NEXT_BATCH, Records
from ascend_spec import per_spec, raw_catalog
from ascend_spec.core.packed import dtype_of

from .clocks import Clock
from .machine import chip_of
from .moments import MICROSECOND

KIND, RUN, READING, PREPARATION = "aicpu", "AICPU_NODE", "AICPU_MI", "AICPU_DP"
"""The kind of files, and its records that are read and written."""
RUNS, READINGS, PREPARATIONS = "aicpu", "aicpu_mi", "dp"
"""Their records of the recording."""
QUEUE_TAG = 1
"""The one kind of readings that has a name (upstream-msprof AicpuMiBean)."""
TEXTS = ("action", "source")
"""The texts of a preparation, which have fields of their names."""
CORE = "AI_CPU"
"""What kernels of AI CPUs run on."""


def lengths(clock: Clock, ticks: Integers) -> Integers:
    """ns of numbers of ticks."""
    return Clock(0, Fraction(0), clock.step).times(ticks)


@per_spec
def numbers() -> int:
    """The greatest number of a task."""
    return int(np.iinfo(dtype_of(raw_catalog().record(RUN))["taskId"]).max)


@per_spec
def _text_sizes() -> dict[str, int]:
    """Bytes of the texts of a preparation."""
    layout = dtype_of(raw_catalog().record(PREPARATION))
    return {name: layout[name].itemsize for name in TEXTS}


def run_ticks(table: dict[str, Integers], clock: Clock) -> tuple[Integers, Integers, Integers]:
    """When kernels were submitted, began and ended, by the counter of the device."""
    end = table["time"] + table["task"]
    submitted, began, ended = (
        clock.ticks(one) for one in (end - table["total"], table["time"], end)
    )
    return submitted, began, ended


def held_of_aicpu(capture: Capture, clock: Clock) -> Records:
    """The records as raw files hold them; clock: of the device."""
    if chip_of(capture.origin) not in raw_catalog().files[KIND].chips:
        return {}
    found = {}
    if RUNS in capture.records:
        table = dict(capture.records[RUNS])
        submitted, began, ended = run_ticks(table, clock)
        found[RUNS] = {
            **table,
            "time": clock.times(began),
            "task": lengths(clock, ended - began),
            "total": lengths(clock, ended - submitted),
            "number": table["number"] & numbers(),
            **{name: _whole(table[name]) for name in ("compute", "memcpy", "dispatch")},
        }
    if READINGS in capture.records:
        table = dict(capture.records[READINGS])
        every = capture.texts.all
        own = np.array([every[one] == NEXT_BATCH for one in table["name"].tolist()], np.bool_)
        table |= {name: _whole(table[name]) for name in ("start", "end")}
        found[READINGS] = {name: values[own] for name, values in table.items()}
    if PREPARATIONS in capture.records:
        table = dict(capture.records[PREPARATIONS])
        every = capture.texts.all
        fits = [
            np.array([len(every[one].encode()) <= most for one in table[name].tolist()], np.bool_)
            for name, most in _text_sizes().items()
        ]
        own = np.logical_and.reduce(fits)
        found[PREPARATIONS] = {name: values[own] for name, values in table.items()}
    return found


def _whole(times: Integers) -> Integers:
    return times // MICROSECOND * MICROSECOND
