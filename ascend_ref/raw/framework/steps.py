"""Steps: operators of the program whose names show the number of a step."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Activities, Steps, Texts
from ascend_ref.capture.kinds import OP
from ascend_spec.raw.records import STEP_PREFIX

_DIGITS = 18
"""Digits of a number of a step; more would not fit into 64 bits."""


def steps_of(activities: Activities, texts: Texts) -> Steps:
    """The steps in order of start."""
    numbers: dict[int, int] = {}
    operators = activities.take(activities.kind == OP)
    every = texts.all
    for name in np.unique(operators.name).tolist():
        _, prefix, number = every[name].rpartition(STEP_PREFIX)
        if prefix and number.isdecimal() and number.isascii() and len(number) <= _DIGITS:
            numbers[name] = int(number)
    rows = np.flatnonzero(np.isin(operators.name, list(numbers)))
    rows = rows[np.argsort(operators.start[rows], kind="stable")]
    number = [numbers[name] for name in operators.name[rows].tolist()]
    return Steps(np.array(number, np.int64), operators.start[rows], operators.end[rows])
