"""Which links were fast and which slow: the matrix of communication by kind of operator."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ascend_ref.capture.batch import Integers, Reals

from .decimals import python_round
from .matching import divided
from .transit import Flows

KINDS = re.compile(
    "send|reduce|invalid|broadcast|allreduce|receive|allgather|reducescatter|scatter|alltoall"
    "|alltoallv|alltoallvc|batchsendrecv"
)
"""The first match in the name of an operator is its kind (text-outputs.md 7.8)."""
POINT_TO_POINT = ("hcom_send", "hcom_receive", "hcom_batchsendrecv")

RATE_PLACES = 4
"""Decimals of rates and of shares."""

CHOICES = ("top1", "middle", "bottom1", "total", "bottom2", "bottom3")
"""The rows of each kind and link, in the exporter's order."""


def matrix_kind(operator: str) -> str:
    """The kind under which the matrix counts an operator (``hcom_allReduce__865_0_1``)."""
    match = KINDS.search(operator.lower())
    return match.group() if match else operator.partition("__")[0]


def is_point_to_point(operator: str) -> bool:
    """Whether an operator counts as p2p and not as collective."""
    return operator.lower().startswith(POINT_TO_POINT)


@dataclass(frozen=True, slots=True)
class Choices:
    """Rows of the matrix. flow: the flow that a row shows, of a total the fastest of its flows.

    choice: place in CHOICES.
    """

    flow: Integers
    choice: Integers
    size: Integers
    duration: Integers | Reals


def rate(size: Integers, duration: Integers | Reals) -> Reals:
    """GB/s with four decimals, as MB by ms; 0 where no time passed. Byte and ns."""
    return python_round(divided(size / 1e6, duration / 1e6, duration > 0), RATE_PLACES)


def choices(found: Flows, heap: Integers, *, filled: bool = False) -> Choices:
    """The fastest, the middle, the three slowest flows of each heap, and the sum of all.

    heap: for each flow the number of its step, class, kind, group and pair of ranks. filled:
    whether the fastest stands for what a heap of fewer than three lacks, as MindSpore has it.
    """
    order = np.lexsort((-rate(found.size, found.duration), heap))
    heaps = heap[order]
    first = np.flatnonzero(np.append(True, heaps[1:] != heaps[:-1])[: len(heaps)])
    count = np.diff(np.append(first, len(heaps)))
    last = first + count - 1
    picked = {
        "top1": first,
        "middle": first + count // 2,
        "bottom1": last,
        "bottom2": np.maximum(last - 1, first)[filled | (count >= 2)],
        "bottom3": np.maximum(last - 2, first)[filled | (count >= 3)],
    }
    parts = []
    for choice, name in enumerate(CHOICES):
        flow = order[picked.get(name, first)]
        size, duration = found.size[flow], found.duration[flow]
        if name == "total" and len(first):
            size = np.add.reduceat(found.size[order], first)
            duration = np.add.reduceat(found.duration[order], first)
        parts.append((flow, np.full(len(flow), choice), size, duration))
    return Choices(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
