"""MSTX_EVENTS: the ranges of the program, and those that the framework sets around collectives."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from ascend_ref.capture import Integers, Marks, Texts
from ascend_ref.capture.model import NONE
from ascend_spec import catalog

from ..program.model import Annotate, Collective
from ..world.timeline import RankTimeline
from .calls import THREAD_IDS, Thread
from .templates import ENTRY_OF_COLLECTIVE

RANGE = "start/end"
COMMUNICATION_DOMAIN = "communication"


def communication_message(item: Collective, group: str, stream: int) -> str:
    """The text by which the framework describes a collective; readers rebuild operators from it."""
    fields = {
        "count": str(item.count),
        "dataType": item.data_type.lower(),
        "groupName": group,
        "opName": ENTRY_OF_COLLECTIVE[item.kind],
        "streamId": str(stream),
    }
    return "{" + ",".join(f'"{name}": {json.dumps(text)}' for name, text in fields.items()) + "}"


def program_marks(
    timeline: RankTimeline,
    communication: Mapping[int, tuple[str, int]],
    texts: Texts,
    process: int,
) -> Marks:
    """Ranges from ``begin`` of their first item until the framework has ``left`` their last one.

    ``communication``: name of the group and number of the stream of a collective, by its item;
    collectives that it lacks get no range. Ranges with a device task are numbered from 0 in order
    of start; those of the framework have none.
    """
    program = timeline.program
    first, last, message, domain, thread, on_device = (list[int]() for _ in range(6))
    for place, item in enumerate(program.items):
        if isinstance(item, Annotate):
            last.append(item.last)
            message.append(texts.number(item.message))
            domain.append(texts.number(item.domain))
            on_device.append(int(item.on_device))
        elif isinstance(item, Collective) and place in communication:
            last.append(place)
            message.append(texts.number(communication_message(item, *communication[place])))
            domain.append(texts.number(COMMUNICATION_DOMAIN))
            on_device.append(0)
        else:
            continue
        first.append(place)
        backward = program.operators[item.operator].thread == "backward"
        thread.append(THREAD_IDS[Thread.BACKWARD if backward else Thread.MAIN] + process)
    steps, count = timeline.steps, len(first)
    linked = np.array(on_device, np.int64)
    within = np.cumsum(linked) - linked
    link = np.arange(steps, dtype=np.int64)[:, None] * linked.sum() + within

    def repeated(column: list[int]) -> Integers:
        return np.tile(np.array(column, np.int64), steps)

    kinds = {one.name: one.id for one in catalog().enums["ENUM_MSTX_EVENT_TYPE"].members}
    return Marks(
        start=timeline.host.begin[:, first].reshape(-1),
        end=timeline.host.left[:, last].reshape(-1),
        kind=np.full(steps * count, kinds[RANGE], np.int64),
        thread=repeated(thread),
        message=repeated(message),
        domain=repeated(domain),
        device_link=np.where(linked, link, NONE).reshape(-1),
    )
