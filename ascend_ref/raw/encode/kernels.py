"""What the graph engine and aclnn report of the operators that they launch."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Capture, Integers
from ascend_spec.core.packed import dtype_of
from ascend_spec.raw import records

from ..fields import joined, put, taken
from ..series import AGING
from ..tensors import NOT_AVAILABLE, Tensor, TensorTexts, field_of, tensors
from ..vocabulary import numbered
from .calls import HostTicks
from .tracks import moments_within, task_rows
from .tree import RawTree, Rows

DYNAMIC = "dynamic"
_WORD = 1 << 16


def write_kernels(
    capture: Capture,
    tree: RawTree,
    ticks: HostTicks,
    items: npt.NDArray[np.uint64],
) -> list[str]:
    """Write what operators are, and into ``items`` which of them a call launched.

    Level 0 collects their names alone, as those of the calls that launch them.

    Returns what of them no record holds.
    """
    kernels, tasks = capture.kernels, capture.tasks
    task = task_rows(capture, kernels.task)
    call = ticks.rows_of(tasks.connection[task])
    row = ticks.inner(tasks.connection[task])
    bound = np.flatnonzero(row >= 0)
    bound = bound[np.argsort(row[bound], kind="stable")]
    lost = _unbound(len(kernels) - len(bound))
    if not len(bound):
        return lost
    names = tree.hashes(capture.texts, capture.kernel_kinds.name)
    kind, row = kernels.kind[bound], row[bound]
    items[call[bound]] = names[kind]
    _, first = np.unique(row, return_index=True)
    moment = np.empty(len(row), np.int64)
    moment[first], _ = moments_within(ticks.tree, row[first])
    moment = moment[first][np.searchsorted(row[first], row)]
    head = {"threadId": ticks.tree.thread[row], "timeStamp": moment}
    if capture.switches.level:
        lost += _write_basic(capture, tree, kind, names, head)
        _write_attributes(capture, tree, kind, names, head)
        lost += _write_tensors(capture, tree, kind, names, head)
    _write_contexts(tree, names[kind], tasks.context[task[bound]], head)
    return lost


def _unbound(count: int) -> list[str]:
    return [f"{count:,} kernels whose launch is not recorded"] if count else []


def _write_basic(
    capture: Capture,
    tree: RawTree,
    kind: Integers,
    names: Rows,
    head: dict[str, Integers],
) -> list[str]:
    kinds, every = capture.kernel_kinds, capture.texts.all
    declaration = tree.declaration("node_basic_info")
    known = numbered("ge_task_types")
    cores = [known.get(every[one], known["INVALID"]) for one in kinds.core.tolist()]
    ratio = kinds.mix_blocks // np.maximum(kinds.blocks, 1)
    rows = tree.rows("node_basic_info", len(kind))
    for name, column in head.items():
        rows[name] = column
    rows["opName"] = names[kind]
    rows["opType"] = tree.hashes(capture.texts, kinds.op_type)[kind]
    rows["taskType"] = np.array(cores, np.int64)[kind]
    put(declaration, rows, "blockNum", kinds.blocks[kind])
    put(declaration, rows, "ratio", ratio[kind])
    rows["opFlag"] = np.array([every[one] == "YES" for one in kinds.hf32.tolist()])[kind]
    aging = np.array([every[one] == DYNAMIC for one in kinds.op_state.tolist()], np.bool_)[kind]
    tree.add("node_basic_info", taken(rows, ~aging))
    tree.add("node_basic_info", taken(rows, aging), AGING)
    odd = (ratio * kinds.blocks != kinds.mix_blocks) | (kinds.blocks >= _WORD)
    count = int(np.sum(odd[kind]))
    return [f"the blocks of {count:,} kernels, which are no multiple"] if count else []


def _write_attributes(
    capture: Capture, tree: RawTree, kind: Integers, names: Rows, head: dict[str, Integers]
) -> None:
    attributes = capture.kernel_kinds.attributes
    every = capture.texts.all
    has = np.array([one >= 0 and every[one] != NOT_AVAILABLE for one in attributes.tolist()])
    chosen = np.flatnonzero(has[kind]) if len(has) else np.zeros(0, np.int64)
    rows = tree.rows("node_attr_info", len(chosen))
    for name, column in head.items():
        rows[name] = column[chosen]
    rows["opName"] = names[kind[chosen]]
    rows["hashId"] = tree.hashes(capture.texts, attributes[kind[chosen]])
    tree.add("node_attr_info", rows)


def _write_tensors(
    capture: Capture, tree: RawTree, kind: Integers, names: Rows, head: dict[str, Integers]
) -> list[str]:
    dtype = dtype_of(records.TENSOR)
    order = np.argsort(kind, kind="stable")
    parts, left_out = [], 0
    for own in np.unique(kind).tolist():
        found = _tensors(capture, own)
        users = order[np.searchsorted(kind[order], own) : np.searchsorted(kind[order], own + 1)]
        if found is None:
            left_out += len(users)
            continue
        for start in range(0, len(found), records.TENSORS):
            some = found[start : start + records.TENSORS]
            rows = tree.rows("tensor_info", len(users))
            for name, column in head.items():
                rows[name] = column[users]
            rows["opName"] = names[own]
            rows["tensorNum"] = len(some)
            rows["tensorData"][:, : len(some)] = field_of(some, dtype)
            parts.append(rows)
    if parts:
        tree.add("tensor_info", joined(parts))
    return [f"the tensors of {left_out:,} kernels"] if left_out else []


def _tensors(capture: Capture, kind: int) -> list[Tensor] | None:
    every, kinds = capture.texts.all, capture.kernel_kinds
    found: list[Tensor] = []
    for number, side in enumerate(("input", "output")):
        texts = TensorTexts(
            *(
                every[int(one)] if one >= 0 else NOT_AVAILABLE
                for one in (
                    getattr(kinds, f"{side}_formats")[kind],
                    getattr(kinds, f"{side}_data_types")[kind],
                    getattr(kinds, f"{side}_shapes")[kind],
                )
            )
        )
        some = tensors(number, texts)
        if some is None:
            return None
        found += some
    return found


def _write_contexts(
    tree: RawTree,
    names: Rows,
    context: Integers,
    head: dict[str, Integers],
) -> None:
    chosen = np.flatnonzero(context >= 0)
    if not tree.writes("context_id_info"):
        return
    rows = tree.rows("context_id_info", len(chosen))
    for name, column in head.items():
        rows[name] = column[chosen]
    rows["opName"] = names[chosen]
    rows["ctxIdNum"] = 1
    rows["ctxIds"][:, 0] = context[chosen]
    tree.add("context_id_info", rows)
