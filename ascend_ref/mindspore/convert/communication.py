"""Collectives with their parts as tables of a capture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from ascend_ref.capture import Collectives, Groups, Integers, Texts, Transfers
from ascend_ref.capture.model import NONE
from ascend_ref.raw.communication import NOT_COLLECTED
from ascend_ref.raw.tensors import NOT_AVAILABLE
from ascend_spec import catalog

from .found import Collective, Part

_TASK_KINDS = {
    "Notify Record": "NOTIFY_RECORD",
    "Notify Wait": "NOTIFY_WAIT",
    "Memcpy": "MEMCPY_ASYNC",
    "Reduce Inline": "REDUCE_ASYNC_V2",
    "RDMASend": "RDMA_SEND",
}
"""What the runtime calls parts of collectives (raw/vocabularies.yaml)."""
_ON_CHIP = "ON_CHIP"
"""The link of a rank to itself (ENUM_HCCL_LINK_TYPE)."""


class Communication(TypedDict):
    """Columns of a capture."""

    groups: Groups
    group_ranks: Integers
    collectives: Collectives
    transfers: Transfers


def task_kind(part: Part) -> str:
    """What the runtime calls the task of a part."""
    return _TASK_KINDS.get(part.kind, part.kind.upper().replace(" ", "_") or NOT_AVAILABLE)


def communication_of(
    collectives: Sequence[Collective], device: int, tasks: Integers, texts: Texts
) -> Communication:
    """All of it. tasks: identity of the task of each part, in order of the parts.

    Traces name no group: the ranks that they have make up one.
    """
    parts = [one for collective in collectives for one in collective.parts]
    owner = [place for place, one in enumerate(collectives) for _ in one.parts]
    ranks = sorted({rank for one in parts for rank in (one.source, one.target)} - {NONE})
    ranks = ranks or [device]
    missing = texts.number(NOT_AVAILABLE)
    count = len(collectives)
    transports = {
        one.name: int(one.id) for one in catalog().enums["ENUM_HCCL_TRANSPORT_TYPE"].members
    }
    return {
        "groups": Groups.filled(
            1 if count else 0,
            name=missing,
            purpose=missing,
            rank=ranks.index(device) if device in ranks else 0,
            first=0,
            size=len(ranks),
        ),
        "group_ranks": _column(ranks if count else []),
        "collectives": Collectives.filled(
            count,
            name=texts.numbers([one.name for one in collectives]),
            kind=texts.numbers([one.kind for one in collectives]),
            algorithm=missing,
            group=0,
            device=device,
            count=0,
            data_type=NOT_COLLECTED,
            relay=0,
            retry=0,
        ),
        "transfers": Transfers.filled(
            len(parts),
            task=tasks,
            collective=_column(owner),
            kind=texts.numbers([one.kind.replace(" ", "_") for one in parts]),
            plane=_column([one.plane for one in parts]),
            notify=_column([one.notify for one in parts]),
            source=_column([one.source for one in parts]),
            target=_column([one.target for one in parts]),
            size=_column([one.size for one in parts]),
            transport=_column([transports.get(one.transport, NOT_COLLECTED) for one in parts]),
            link=_column([_link(one) for one in parts]),
            data_type=NOT_COLLECTED,
            rdma=NOT_COLLECTED,
            master=1,
        ),
    }


def _link(part: Part) -> int:
    """Traces name no links, but what stays on a rank goes over none between ranks."""
    members = catalog().enums["ENUM_HCCL_LINK_TYPE"].members
    stays = part.source == part.target != NONE
    return next(int(one.id) for one in members if one.name == _ON_CHIP) if stays else NOT_COLLECTED


def _column(values: Sequence[int]) -> Integers:
    return np.array(values, np.int64)
