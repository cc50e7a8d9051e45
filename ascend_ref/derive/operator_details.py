"""How long the operators of the framework took on host and device: operator_details.csv."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ascend_ref.capture.batch import Integers, Reals
from ascend_ref.capture.model import NONE

from .matching import sums
from .nesting import innermost, parents
from .steps import Spans

CHUNK = 1 << 14
"""So many kernels at a time are multiplied by the operators around them."""
DEEPEST = 1000
"""An operator further above a kernel does not count it. Real files reach a few dozen."""


@dataclass(frozen=True, slots=True)
class Kernels:
    """Device work that operators launched, in order of the launches.

    operator: row of the operator whose launch it is, NONE without one. duration: us, as the float
    that the timeline shows. on_ai_core: whether its task type is AI_CORE.
    """

    operator: Integers
    duration: Reals
    on_ai_core: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class OperatorDetails:
    """One row per operator. host_self, host_total: ns. The others: us, sums of floats."""

    host_self: Integers
    host_total: Integers
    device_self: Reals
    device_total: Reals
    device_self_with_ai_core: Reals
    device_total_with_ai_core: Reals


def operator_details(operators: Spans, kernels: Kernels) -> OperatorDetails:
    """The times of the operators, which are in order of start, and of what they launched.

    Self is what the operators within do not account for. All threads form one stack (see
    ``nesting.parents``), the exporter's steps being operators, too, though it does not list them.
    Source: exporter of the framework; exact on all 859 rows of the real file.
    """
    count = len(operators.start)
    parent = parents(*operators)
    total = operators.end - operators.start
    nested = parent != NONE
    within = sums(parent[nested], total[nested], count)
    own = kernels.operator != NONE
    owner, times = kernels.operator[own], kernels.duration[own]
    core_times = np.where(kernels.on_ai_core[own], times, 0.0)
    outer, outer_cores = np.zeros(count), np.zeros(count)
    for first in range(0, len(owner), CHUNK):
        rows = slice(first, first + CHUNK)
        kernel, ancestor = _ancestors(owner[rows], parent)
        np.add.at(outer, ancestor, times[rows][kernel])
        np.add.at(outer_cores, ancestor, core_times[rows][kernel])
    return OperatorDetails(
        host_self=total - within,
        host_total=total,
        device_self=sums(owner, times, count),
        device_total=outer,
        device_self_with_ai_core=sums(owner, core_times, count),
        device_total_with_ai_core=outer_cores,
    )


def launching_operators(
    operators: Spans, threads: Integers, calls: Integers, of: Integers
) -> Integers:
    """The operator that was open when it put work into the task queue, NONE without one.

    calls: moments of the calls; of: their threads. An operator of another thread is none.
    """
    found = innermost(*operators, calls)
    same = np.append(threads, NONE)[found] == of
    return np.where(same, found, NONE)


def dequeuing_calls(dequeues: Spans, moment: Integers) -> Integers:
    """The row of the task queue's call that was running when work was launched, NONE without one.

    Of several the first in the given order; ends included.
    """
    reach = np.maximum.accumulate(np.maximum(dequeues.start - 1, dequeues.end))
    place = np.searchsorted(reach, moment)
    known = np.append(dequeues.start, np.iinfo(np.int64).max)[place] <= moment
    return np.where(known, place, NONE)


def _ancestors(owner: Integers, parent: Integers) -> tuple[Integers, Integers]:
    """Each kernel with its operator and all that this is within, kernels in their order."""
    kernel = np.arange(len(owner))
    kernels, ancestors = [kernel], [owner]
    for _ in range(DEEPEST):
        above = parent[ancestors[-1]]
        inner = above != NONE
        if not inner.any():
            break
        kernel = kernel[inner]
        kernels.append(kernel)
        ancestors.append(above[inner])
    together, outer = np.concatenate(kernels), np.concatenate(ancestors)
    order = np.argsort(together, kind="stable")
    return together[order], outer[order]
