"""Records of nodes: which operator a call of the layer of nodes launched, and what it is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers, Texts
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import counterparts, distinct, groups, ranks
from ascend_ref.derive.text_hash import NO_TEXT
from ascend_spec.core.packed import dtype_of
from ascend_spec.raw import records

from ..clocks import LIMIT
from ..damage import Damage
from ..fields import joined, numbers
from ..tensors import NOT_AVAILABLE, Tensor, TensorTexts, shape_of, texts_of
from ..vocabulary import level, named
from .calls import Calls
from .session import Rows, Session

Hashes = npt.NDArray[np.uint64]

STATIC, DYNAMIC = "static", "dynamic"
_INPUT, _OUTPUT = 0, 1
MOST_RECORDS = 256
"""Records of tensors of one operator; real ones have some ten."""


@dataclass(frozen=True)
class Nodes:
    """Operators, each with the row of the tree of calls of its node; NONE where it is in none.

    recorded: whether there are records of them, or only names. core: number of the graph engine.
    attributes, state: texts. tensors: rows of ``tensor_texts``, which has those of both sides.
    """

    recorded: bool
    row: Integers
    name: Hashes
    op_type: Hashes
    core: Integers
    blocks: Integers
    mix_blocks: Integers
    hf32: Integers
    state: Integers
    attributes: Integers
    tensors: Integers
    tensor_texts: list[tuple[TensorTexts, TensorTexts]]


def read_nodes(session: Session, calls: Calls, texts: Texts) -> Nodes:
    """The operators of a host, in order of their times."""
    declaration = session.declaration("node_basic_info")
    parts = session.parts(session.host, "node_basic_info")
    rows = joined([one.rows for one in parts] or [np.zeros(0, dtype_of(declaration))])
    states = [np.full(len(one.rows), one.aging) for one in parts] or [np.zeros(0, np.bool_)]
    order = np.argsort(rows["timeStamp"], kind="stable")
    rows, aging = rows[order], np.concatenate(states)[order]
    row = nodes_of(session, calls, rows, "node_basic_info")
    names = rows["opName"]
    blocks = numbers(declaration, "blockNum", rows)
    words = [texts.number(STATIC), texts.number(DYNAMIC)]
    tensors, tensor_texts = _tensors(session, calls, row, names)
    if not len(rows):
        return _named_alone(calls, texts)
    return Nodes(
        recorded=True,
        row=row,
        name=names,
        op_type=rows["opType"],
        core=rows["taskType"].astype(np.int64),
        blocks=blocks,
        mix_blocks=blocks * numbers(declaration, "ratio", rows),
        hf32=(rows["opFlag"] != 0).astype(np.int64),
        state=np.where(aging, words[1], words[0]),
        attributes=_attributes(session, calls, texts, row, names),
        tensors=tensors,
        tensor_texts=tensor_texts,
    )


def _named_alone(calls: Calls, texts: Texts) -> Nodes:
    """The operators that level 0 leaves: what the calls of nodes name."""
    row = np.flatnonzero(calls.tree.level == level("NODE"))
    item = calls.item[calls.tree.place[row]]
    row, item = row[item > 0], item[item > 0]
    nothing = np.zeros(len(row), np.int64)
    missing = nothing + texts.number(NOT_AVAILABLE)
    return Nodes(
        recorded=False,
        row=row,
        name=item,
        op_type=np.full(len(row), NO_TEXT, np.uint64),
        core=np.full(len(row), NONE),
        blocks=nothing,
        mix_blocks=nothing,
        hf32=nothing,
        state=missing,
        attributes=missing,
        tensors=nothing,
        tensor_texts=[(TensorTexts(), TensorTexts())],
    )


def nodes_of(session: Session, calls: Calls, rows: Rows, kind: str) -> Integers:
    """The row of the tree of the node that each record was reported in, NONE in none.

    Exporters drop those (raw-prof 5); they are damage.
    """
    moment = np.where(rows["timeStamp"] < LIMIT, rows["timeStamp"], 0).astype(np.int64)
    found = calls.holding(rows["threadId"].astype(np.int64), moment)
    node = calls.tree.up_to(found, level("NODE"))
    outside = int(np.sum(node < 0))
    if outside and session.host is not None:
        text = (
            f"{kind}: {outside:,} records lie in no call of a node, so nobody knows whose they are"
        )
        session.damage.append(Damage(session.host.folder.path, text, kind=kind))
    return node


def same(
    wanted: tuple[Integers, Hashes], having: tuple[Integers, Hashes]
) -> tuple[Integers, Integers]:
    """Numbers for pairs of node and name, which agree where the pairs do."""
    count = len(wanted[0])
    _, group = groups(
        np.concatenate([wanted[0], having[0]]),
        np.concatenate([wanted[1], having[1]]).view(np.int64),
    )
    return group[:count], group[count:]


def _attributes(
    session: Session, calls: Calls, texts: Texts, row: Integers, names: Hashes
) -> Integers:
    missing = texts.number(NOT_AVAILABLE) if len(row) else NONE
    found = np.full(len(row), missing)
    rows = session.rows(session.host, "node_attr_info")
    if not len(rows):
        return found
    node = nodes_of(session, calls, rows, "node_attr_info")
    wanted, having = same((row, names), (node, rows["opName"]))
    place = counterparts(wanted, ranks(wanted), having, keep_last=True)
    known = place >= 0
    found[known] = text_numbers(session, texts, rows["hashId"][place[known]])
    return found


def text_numbers(session: Session, texts: Texts, hashes: Hashes) -> Integers:
    """The texts of hashes; where the dictionary lacks one its decimal number (raw-prof 6.2)."""
    every, place = distinct(hashes)
    known = {NO_TEXT: NOT_AVAILABLE} | dict(session.names.texts)
    found = [texts.number(known.get(one, str(one))) for (one,) in every]
    session.unnamed.update(one for (one,) in every if one not in known)
    return np.array(found, np.int64)[place]


def _tensors(
    session: Session, calls: Calls, row: Integers, names: Hashes
) -> tuple[Integers, list[tuple[TensorTexts, TensorTexts]]]:
    """For each operator a number of the tensors that it has, and what those are."""
    combination = np.zeros(len(row), np.int64)
    made: list[list[Tensor]] = [[]]
    rows = session.rows(session.host, "tensor_info")
    if not len(rows) or not len(row):
        return combination, [(TensorTexts(), TensorTexts())]
    node = nodes_of(session, calls, rows, "tensor_info")
    wanted, having = same((row, names), (node, rows["opName"]))
    order = np.lexsort((np.arange(len(rows)), rows["timeStamp"], having))
    rows, having = rows[order], having[order]
    kind, kinds = _kinds_of(rows)
    # Records of one operator agree in their time; those of the next run of it have another one.
    first, run = groups(having, rows["timeStamp"].astype(np.int64))
    owner = counterparts(having[first], ranks(having[first]), wanted)[run]
    known = owner >= 0
    owner, kind = owner[known], kind[known]
    turn = ranks(owner)
    far = turn >= MOST_RECORDS
    if far.any() and session.host is not None:
        text = f"tensor_info: operators with more than {MOST_RECORDS:,} records of tensors"
        session.damage.append(Damage(session.host.folder.path, text, kind="tensor_info"))
    order = np.argsort(turn, kind="stable")
    bounds = np.searchsorted(
        turn[order], np.arange(min(int(turn.max(initial=-1)) + 2, MOST_RECORDS))
    )
    for start, end in pairwise(bounds.tolist()):
        own, some = owner[order[start:end]], kind[order[start:end]]
        pairs, place = distinct(combination[own], some)
        before = len(made)
        made += [made[former] + kinds[one] for former, one in pairs]
        combination[own] = before + place
    return combination, [
        (
            texts_of([one for one in some if one.kind == _INPUT]),
            texts_of([one for one in some if one.kind == _OUTPUT]),
        )
        for some in made
    ]


def _kinds_of(rows: Rows) -> tuple[Integers, list[list[Tensor]]]:
    """A number for the tensors of each record, and what those are."""
    content = np.ascontiguousarray(
        rows.view(np.uint8).reshape(len(rows), -1)[:, records.HEAD_SIZE :]
    )
    flat = content.view(f"V{content.shape[1]}").reshape(-1)
    _, first, place = np.unique(flat, return_index=True, return_inverse=True)
    kinds = []
    for row in rows[first]:
        some = row["tensorData"][: min(int(row["tensorNum"]), records.TENSORS)]
        kinds.append(
            [
                Tensor(
                    int(one["tensorType"]),
                    int(one["format"]),
                    int(one["dataType"]),
                    shape_of(one["shape"].tolist()),
                )
                for one in some
            ]
        )
    return place.reshape(-1).astype(np.int64), kinds


def core_name(number: int) -> str:
    """What exporters call the core that the graph engine chose."""
    return NOT_AVAILABLE if number == NONE else named("ge_task_types").get(number, str(number))
