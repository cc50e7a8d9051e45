"""Kernels: tasks that compute, and the operators that they are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers, KernelKinds, Kernels, Texts
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import counterparts, distinct, groups, ranks, values_at

from ..task_kinds import FFTS_PLUS
from ..tensors import NOT_AVAILABLE
from ..vocabulary import level
from .calls import Calls
from .launches import Launches
from .nodes import Nodes, core_name, nodes_of, same, text_numbers
from .session import Session
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
    operator = _operators(calls, launches, nodes)
    launch = launched.launch
    own = values_at(operator, launch)
    rows = np.flatnonzero((own >= 0) & _is_kernel(session, calls, launched, nodes, own))
    own = own[rows]
    kinds, kind = _kinds(session, launches, launch[rows], nodes, own, texts)
    return Computed(Kernels(launched.tasks.identity[rows], kind), kinds, own)


def _operators(calls: Calls, launches: Launches, nodes: Nodes) -> Integers:
    """For each launch the row of its operator: that of its name, else the first of its node."""
    tree = calls.tree
    computes = np.isin(
        launches.kind,
        [one for one, name in launches.names.items() if name.startswith(_COMPUTES)],
    )
    row = launches.call
    inside = tree.levels(row) == level("NODE")
    row = np.where(computes & inside, row, NONE)
    wanted, having = same((row, launches.records["kernelName"]), (nodes.row, nodes.name))
    named = counterparts(wanted, ranks(wanted), having, keep_last=True)
    other = counterparts(row, ranks(row), nodes.row, keep_last=True)
    return np.where(row < 0, NONE, np.where(named >= 0, named, other))


def _is_kernel(
    session: Session, calls: Calls, launched: Launched, nodes: Nodes, own: Integers
) -> Mask:
    """Of an operator of sub-tasks those that its node names, of any other the whole task.

    Where nothing names them, whatever ran of it.
    """
    context, launch = launched.tasks.context, launched.launch
    part = context >= 0
    has_whole = np.zeros(int(launch.max(initial=-1)) + 1, np.bool_)
    has_whole[launch[~part & (launch >= 0)]] = True
    at = np.maximum(launch, 0)
    alone = part & ~(has_whole[at] if len(has_whole) else part)
    rows = session.rows(session.host, "context_id_info")
    rows = rows[rows["level"] == level("NODE")]
    if not len(rows):
        return ~part | alone
    node = nodes_of(session, calls, rows, "context_id_info")
    count = np.minimum(rows["ctxIdNum"], rows["ctxIds"].shape[1]).astype(np.int64)
    inside = np.arange(rows["ctxIds"].shape[1]) < count[:, None]
    names = np.repeat(rows["opName"], count)
    wanted, having = same((nodes.row, nodes.name), (np.repeat(node, count), names))
    contexts = rows["ctxIds"][inside].astype(np.int64)
    asked = values_at(wanted, own)
    _, group = groups(np.concatenate([asked, having]), np.concatenate([context, contexts]))
    named = np.isin(group[: len(asked)], group[len(asked) :])
    with_names = np.isin(asked, having)
    return np.where(with_names, named & part, ~part | alone)


def _kinds(
    session: Session,
    launches: Launches,
    launch: Integers,
    nodes: Nodes,
    own: Integers,
    texts: Texts,
) -> tuple[KernelKinds, Integers]:
    grid, block = _simt(launches, launch, texts)
    pairs = [nodes.tensor_texts[one] for one in range(len(nodes.tensor_texts))]
    sides = [
        np.array([texts.number(getattr(pair[side], name)) for pair in pairs], np.int64)
        for side in (0, 1)
        for name in ("layouts", "data_types", "shapes")
    ]
    words = (_NO, _YES) if nodes.recorded else (NOT_AVAILABLE, NOT_AVAILABLE)
    answers = np.array([texts.number(one) for one in words], np.int64)
    cores = {one: texts.number(core_name(one)) for (one,) in distinct(nodes.core)[0]}
    tensors = nodes.tensors[own]
    columns = {
        "name": text_numbers(session, texts, nodes.name[own]),
        "op_type": text_numbers(session, texts, nodes.op_type[own]),
        "core": np.array([cores[one] for one in nodes.core[own].tolist()], np.int64),
        "input_formats": sides[0][tensors],
        "input_data_types": sides[1][tensors],
        "input_shapes": sides[2][tensors],
        "output_formats": sides[3][tensors],
        "output_data_types": sides[4][tensors],
        "output_shapes": sides[5][tensors],
        "attributes": nodes.attributes[own],
        "op_state": nodes.state[own],
        "hf32": answers[nodes.hf32[own]],
        "grid": grid,
        "thread_block": block,
        "blocks": nodes.blocks[own],
        "mix_blocks": nodes.mix_blocks[own],
    }
    if not len(own):
        return KernelKinds.empty(), own
    first, kind = groups(*columns.values())
    return KernelKinds(**{name: column[first] for name, column in columns.items()}), kind


def _simt(launches: Launches, launch: Integers, texts: Texts) -> tuple[Integers, Integers]:
    """Grid and thread block of SIMT kernels."""
    grid, block = np.full(len(launch), NONE), np.full(len(launch), NONE)
    simt = [one for one, name in launches.names.items() if name == _SIMT]
    info = launches.records["extInfo"]["simtKernelInfo"]
    for at in np.flatnonzero(np.isin(launches.kind[launch], simt)).tolist():
        own = int(launch[at])
        grid[at] = texts.number(",".join(str(info["gridDim"][axis][own]) for axis in "xyz"))
        block[at] = texts.number(",".join(str(info["blockDim"][axis][own]) for axis in "xyz"))
    return grid, block
