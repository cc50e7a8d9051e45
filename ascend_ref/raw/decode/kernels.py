"""Kernels: tasks that compute, and the operators that they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers, KernelKinds, Kernels, Texts
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import Distinct, distinct
from ascend_ref.spill import Spill, batches, counterparts

from ..task_kinds import FFTS_PLUS
from ..tensors import NOT_AVAILABLE
from ..vocabulary import level
from .calls import Calls
from .launches import Launches
from .nodes import Nodes, core_name, nodes_of, text_numbers
from .origins import Source
from .session import Rows, Session
from .tasks import Launched

Mask = npt.NDArray[np.bool_]

_COMPUTES = ("KERNEL_", "STARS_COMMON", FFTS_PLUS)
"""How the names of tasks begin that compute, within a node and outside of communication."""
_SIMT = "KERNEL_SIMT"
_YES, _NO = "YES", "NO"


class Computed(NamedTuple):
    """Kernels and their kinds; ``operator``: for each kernel the row of its node's record."""

    kernels: Kernels
    kinds: KernelKinds
    operator: Integers


def read_kernels(
    session: Session,
    calls: Calls,
    launches: Launches,
    launched: Launched,
    nodes: Nodes,
    texts: Texts,
) -> Computed:
    """The tasks that compute: those of nodes, outside of communication (raw-prof 5)."""
    if not len(launches.moment) or not len(nodes.row):
        return Computed(Kernels.empty(), KernelKinds.empty(), np.zeros(0, np.int64))
    spill, launch = session.spill, launched.launch
    own = spill.values_at(_operators(spill, calls, launches, nodes), launch)
    rows = spill.where(lambda of: of >= 0, own)
    own = spill.taken(own, rows)
    computes = _computing(session, calls, launched, nodes, rows, own)
    rows, own = spill.taken(rows, computes), spill.taken(own, computes)
    kinds, kind = _kinds(session, launches, spill.taken(launch, rows), nodes, own, texts)
    task = spill.taken(launched.tasks.identity, rows)
    if session.origins is not None and session.host is not None:
        source = Source(session.host, "node_basic_info", "NODE_BASIC_INFO")
        places = session.origins.places(spill, source, spill.taken(nodes.record, own))
        count = len(launched.tasks)
        session.origins.by_number(spill, "COMPUTE_TASK_INFO", count, task, places)
    return Computed(Kernels(task, kind), kinds, own)


def _operators(spill: Spill, calls: Calls, launches: Launches, nodes: Nodes) -> Integers:
    """For each launch the row of its operator: that of its name, else the first of its node."""
    computes = [one for one, name in launches.names.items() if name.startswith(_COMPUTES)]
    own = spill.where(
        lambda layer, kind: (layer == level("NODE")) & np.isin(kind, computes),
        *(calls.tree.levels(launches.call), launches.kind),
    )
    wanted = [spill.taken(one, own) for one in (launches.call, launches.kernel.view(np.int64))]
    having = [nodes.row, nodes.name.view(np.int64)]
    named = counterparts(spill, wanted, having, keep_last=True)
    other = counterparts(spill, wanted[:1], having[:1], keep_last=True)
    found = spill.changeable(len(launches.call), NONE)
    for batch in spill.batches(len(own)):
        found[own[batch]] = np.where(named[batch] >= 0, named[batch], other[batch])
    return found


def _computing(
    session: Session,
    calls: Calls,
    launched: Launched,
    nodes: Nodes,
    rows: Integers,
    own: Integers,
) -> Integers:
    """Which of these tasks compute: of an operator of sub-tasks those that its node names, of any
    other the whole task.

    Where nothing names them, whatever ran of it. own: the operators of the tasks.
    """
    spill = session.spill
    context = spill.taken(launched.tasks.context, rows)
    has_whole = _are_whole(spill, launched, rows)
    listed = session.rows(session.host, "context_id_info")
    listed = session.chosen(listed, lambda of: of == level("NODE"), listed["level"])
    if not len(listed):
        return spill.where(lambda part, whole: (part < 0) | ~whole, context, has_whole)
    node = nodes_of(session, calls, listed, "context_id_info")
    having = spill.arrays(_listed(listed, node), 3, np.int64)
    asked = [spill.taken(one, own) for one in (nodes.row, nodes.name.view(np.int64))]
    with_names = counterparts(spill, asked, having[:2], share_first=True)
    named = counterparts(spill, [*asked, context], having, share_first=True)

    def computes(part: Integers, whole: Mask, names: Integers, name: Integers) -> Mask:
        return np.where(names >= 0, (name >= 0) & (part >= 0), (part < 0) | ~whole)

    return spill.where(computes, context, has_whole, with_names, named)


def _are_whole(spill: Spill, launched: Launched, rows: Integers) -> Mask:
    """Of which of these tasks the launch ran as a whole."""
    launch, context = launched.launch, launched.tasks.context
    whole = spill.taken(launch, spill.where(lambda part: part < 0, context))
    marks = spill.marks(_count(spill, launch), whole)
    return spill.made(lambda row: spill.gathered(marks, launch[row]), rows, kind=np.bool_)


def _count(spill: Spill, launch: Integers) -> int:
    return spill.range_of(launch)[1] + 1 if len(launch) else 0


def _listed(rows: Rows, node: Integers) -> Iterator[tuple[Integers, ...]]:
    """Node, name and context of each sub-task that a record names."""
    width = rows["ctxIds"].shape[1]
    for batch in batches(len(rows)):
        some = rows[batch]
        count = np.minimum(some["ctxIdNum"], width).astype(np.int64)
        names = np.repeat(some["opName"].astype(np.uint64), count).view(np.int64)
        contexts = some["ctxIds"][np.arange(width) < count[:, None]].astype(np.int64)
        yield np.repeat(node[batch], count), names, contexts


def _kinds(
    session: Session,
    launches: Launches,
    launch: Integers,
    nodes: Nodes,
    own: Integers,
    texts: Texts,
) -> tuple[KernelKinds, Integers]:
    if not len(own):
        return KernelKinds.empty(), own
    sides = [
        np.array([texts.number(getattr(pair[side], name)) for pair in nodes.tensor_texts], np.int64)
        for side in (0, 1)
        for name in ("layouts", "data_types", "shapes")
    ]
    words = (_NO, _YES) if nodes.recorded else (NOT_AVAILABLE, NOT_AVAILABLE)
    answers = texts.numbers(words)
    spill, seen = session.spill, Distinct()

    def kinds(launch: Integers, own: Integers) -> Integers:
        def of(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return spill.gathered(column, own)

        core, place = distinct(of(nodes.core))
        cores = np.array([texts.number(core_name(one)) for (one,) in core], np.int64)
        tensors = of(nodes.tensors)
        return seen.numbers(
            text_numbers(session, texts, of(nodes.name)),
            text_numbers(session, texts, of(nodes.op_type)),
            cores[place],
            *(side[tensors] for side in sides),
            *(of(nodes.attributes), of(nodes.state), answers[of(nodes.hf32)]),
            *_simt(launches, launch, texts),
            *(of(nodes.blocks), of(nodes.mix_blocks)),
        )

    kind = spill.made(kinds, launch, own)
    return KernelKinds(*seen.columns(len(fields(KernelKinds)))), kind


def _simt(launches: Launches, launch: Integers, texts: Texts) -> tuple[Integers, Integers]:
    """Grid and thread block of SIMT kernels."""
    grid, block = np.full(len(launch), NONE), np.full(len(launch), NONE)
    simt = [one for one, name in launches.names.items() if name == _SIMT]
    info = launches.records["extInfo"]["simtKernelInfo"]
    for at in np.flatnonzero(np.isin(launches.kind[launch], simt)).tolist():
        own = int(launches.record[launch[at]])
        grid[at] = texts.number(",".join(str(info["gridDim"][axis][own]) for axis in "xyz"))
        block[at] = texts.number(",".join(str(info["blockDim"][axis][own]) for axis in "xyz"))
    return grid, block
