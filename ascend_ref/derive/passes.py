"""Which operator of the backward pass belongs to which of the forward one."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Activities, Integers
from ascend_ref.capture.model import NONE

from .matching import counterparts


def passes(operators: Activities, first: int) -> Integers:
    """Numbers from ``first`` that a forward and its backward operator share, NONE for all others.

    Operators in order of start. Of those that share a sequence number the last one of each pass is
    taken; forward ones have 0 for the thread of the forward operator. Numbers ascend with sequence
    numbers. Source: exporter of the framework, filter_fwd_bwd_api.
    """
    link = np.full(len(operators), NONE)
    sequence = operators.sequence
    backward = operators.forward_thread > 0
    known = sequence >= 0
    lasts = []
    for side in (known & ~backward, known & backward):
        rows = np.flatnonzero(side)[::-1]
        _, place = np.unique(sequence[rows], return_index=True)
        lasts.append(rows[place])
    forward, behind = lasts
    partner = counterparts(sequence[forward], 0, sequence[behind])
    paired = np.flatnonzero(partner != NONE)
    numbers = first + np.arange(len(paired))
    link[forward[paired]] = numbers
    link[behind[partner[paired]]] = numbers
    return link
