"""Launches of the framework: by which operator and in which step, and what ran on a device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ascend_ref.arrays import integers, is_one_of
from ascend_ref.capture.batch import Integers
from ascend_ref.derive.adapter_steps import DeviceStep, device_steps
from ascend_ref.derive.matching import NONE
from ascend_ref.derive.operator_details import Kernels
from ascend_ref.derive.steps import Spans
from ascend_ref.timeline.arrows import Ends, operator_ends, task_ends
from ascend_ref.timeline.session import Session

AI_CORE = "AI_CORE"
"""Type of the tasks whose time operator_details shows apart."""
MICROSECOND = 1e3


@dataclass(frozen=True, slots=True)
class Launched:
    """Work on devices that calls of CANN launched, in order of the calls.

    moment, thread, connection: of the call, ns. start, end: of the work, ns. on_ai_core: whether it
    ran on AI cores alone.
    """

    moment: Integers
    thread: Integers
    connection: Integers
    start: Integers
    end: Integers
    on_ai_core: npt.NDArray[np.bool_]


def launched(session: Session) -> Launched:
    """Kernels, copies and communication operators; of the copies of a call the first alone."""
    work, operators = session.work, session.communication
    core = np.zeros(len(work), np.bool_)
    known = work.kernel != NONE
    cores = np.append(is_one_of(session.kernels["taskType"], [AI_CORE]), False)
    core[known] = cores[work.kernel[known]]
    kernels, copies = task_ends(session, copies=False), task_ends(session, copies=True)
    copies = copies.at(np.sort(np.unique(copies.call, return_index=True)[1]))
    others = operator_ends(operators, session.calls, session.spill)
    found: Sequence[tuple[Ends, Integers, npt.NDArray[np.bool_]]] = (
        (kernels, work.end[kernels.row], core[kernels.row]),
        (copies, work.end[copies.row], core[copies.row]),
        (others, operators.end[others.row], np.zeros(len(others.row), np.bool_)),
    )
    call = np.concatenate([ends.call for ends, _, _ in found])
    moment = session.calls.start[call]
    order = np.argsort(moment, kind="stable")
    return Launched(
        moment=moment[order],
        thread=session.calls.thread[call][order],
        connection=np.concatenate([ends.ids["connectionId"] for ends, _, _ in found])[order],
        start=np.concatenate([ends.start for ends, _, _ in found])[order],
        end=np.concatenate([end for _, end, _ in found])[order],
        on_ai_core=np.concatenate([cores for _, _, cores in found])[order],
    )


def steps_of(session: Session) -> list[DeviceStep]:
    """The steps as the devices saw them; none without STEP_TIME."""
    table = session.recorded.table("STEP_TIME")
    if not len(table):
        return []
    number, start, end = (integers(table[name]) for name in ("id", "startNs", "endNs"))
    work = launched(session)
    order = np.argsort(start, kind="stable")
    place = np.searchsorted(start[order], work.moment, side="right") - 1
    step = np.where(place == -1, NONE, np.append(order, NONE)[place])
    step[(step != NONE) & (work.moment > np.append(end, 0)[step])] = NONE
    return device_steps(
        number.tolist(), Spans(start, end), step, work.moment, Spans(work.start, work.end)
    )


def work_of_operators(session: Session) -> Kernels:
    """Work with the row of PYTORCH_API of the operator that launched it, in order of the calls."""
    work = launched(session)
    return Kernels(
        operator=session.activity.launching(work.connection, work.thread, work.moment),
        duration=(work.end - work.start) / MICROSECOND,
        on_ai_core=work.on_ai_core,
    )
