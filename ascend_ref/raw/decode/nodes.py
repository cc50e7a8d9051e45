"""Records of nodes: which operator a call of the layer of nodes launched, and what it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.capture import Integers, Texts
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import distinct
from ascend_ref.derive.text_hash import NO_TEXT
from ascend_ref.spill import Spill, counterparts, first_of_each, run_begins, sorted_rows
from ascend_spec.raw import records

from ..clocks import LIMIT
from ..damage import Damage
from ..fields import in_order, numbers, taken, whole
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
    record: the number of the record of each, NONE for none.
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
    record: Integers


def read_nodes(session: Session, calls: Calls, texts: Texts) -> Nodes:
    """The operators of a host, in order of their times."""
    spill = session.spill
    declaration = session.declaration("node_basic_info")
    parts = session.parts(session.host, "node_basic_info")
    if not any(len(one.rows) for one in parts):
        session.rows(session.host, "tensor_info")  # Of nobody; what damages it is stated.
        return _named_alone(calls, texts)
    rows = session.joined([one.rows for one in parts])
    words = (texts.number(STATIC), texts.number(DYNAMIC))
    states = [np.broadcast_to(np.int64(words[one.aging]), len(one.rows)) for one in parts]
    order = sorted_rows(spill, spill.made(in_order, rows["timeStamp"]))
    rows = session.taken(rows, order)
    row = nodes_of(session, calls, rows, "node_basic_info")
    names = spill.made(np.copy, rows["opName"], kind=np.uint64)
    blocks = spill.made(lambda some: numbers(declaration, "blockNum", some), rows)
    tensors, tensor_texts = _tensors(session, calls, row, names)
    return Nodes(
        recorded=True,
        row=row,
        name=names,
        op_type=spill.made(np.copy, rows["opType"], kind=np.uint64),
        core=spill.made(whole, rows["taskType"]),
        blocks=blocks,
        mix_blocks=spill.made(
            lambda count, some: count * numbers(declaration, "ratio", some), blocks, rows
        ),
        hf32=spill.made(lambda flags: flags != 0, rows["opFlag"]),
        state=spill.taken(spill.joined(*states), order),
        attributes=_attributes(session, calls, texts, row, names),
        tensors=tensors,
        tensor_texts=tensor_texts,
        record=order,
    )


def _named_alone(calls: Calls, texts: Texts) -> Nodes:
    """The operators that level 0 leaves: what the calls of nodes name."""
    spill, tree = calls.spill, calls.tree
    nodes = spill.where(lambda of: of == level("NODE"), tree.level)
    row = spill.taken(nodes, spill.where(lambda one: one != 0, calls.items(nodes)))
    nothing = spill.made(np.zeros_like, row)
    missing = spill.made(lambda one: one + texts.number(NOT_AVAILABLE), nothing)
    return Nodes(
        recorded=False,
        row=row,
        name=calls.items(row).view(np.uint64),
        op_type=spill.made(lambda one: np.full(len(one), NO_TEXT, np.uint64), row, kind=np.uint64),
        core=spill.made(lambda one: np.full(len(one), NONE), row),
        blocks=nothing,
        mix_blocks=nothing,
        hf32=nothing,
        state=missing,
        attributes=missing,
        tensors=nothing,
        tensor_texts=[(TensorTexts(), TensorTexts())],
        record=spill.made(lambda one: np.full(len(one), NONE), row),
    )


def nodes_of(session: Session, calls: Calls, rows: Rows, kind: str) -> Integers:
    """The row of the tree of the node that each record was reported in, NONE in none.

    Exporters drop those (raw-prof 5); they are damage.
    """
    spill = session.spill
    thread = spill.made(whole, rows["threadId"])
    found = calls.holding(thread, spill.made(moments, rows["timeStamp"]))
    node = calls.tree.up_to(found, level("NODE"))
    outside = len(spill.where(lambda one: one < 0, node))
    if outside and session.host is not None:
        text = (
            f"{kind}: {outside:,} records lie in no call of a node, so nobody knows whose they are"
        )
        session.damage.append(Damage(session.host.folder.path, text, kind=kind))
    return node


def moments(column: npt.NDArray[Any]) -> Integers:
    """Ticks; 0 for what no counter shows."""
    return np.where(column < LIMIT, column, 0).astype(np.int64)


def _attributes(
    session: Session, calls: Calls, texts: Texts, row: Integers, names: Hashes
) -> Integers:
    spill = session.spill
    missing = texts.number(NOT_AVAILABLE)
    rows = session.rows(session.host, "node_attr_info")
    if not len(rows):
        return spill.made(lambda one: np.full(len(one), missing), row)
    node = nodes_of(session, calls, rows, "node_attr_info")
    own = (node, hashes_of(spill, rows["opName"]))
    place = counterparts(spill, (row, names.view(np.int64)), own, keep_last=True)

    def numbers_of(place: Integers) -> Integers:
        found = np.full(len(place), missing)
        known = place >= 0
        found[known] = text_numbers(session, texts, rows["hashId"][place[known]])
        return found

    return spill.made(numbers_of, place)


def hashes_of(spill: Spill, column: npt.NDArray[np.uint64]) -> Integers:
    """Hashes as integers, to compare them."""
    return spill.made(lambda some: np.ascontiguousarray(some).view(np.int64), column)


def text_numbers(session: Session, texts: Texts, hashes: Hashes) -> Integers:
    """The texts of hashes; where the dictionary lacks one its decimal number (raw-prof 6.2)."""
    every, place = distinct(hashes)
    known = session.names.texts
    session.unnamed.update(one for (one,) in every if one not in known and one != NO_TEXT)
    found = [
        texts.number(known.get(one, NOT_AVAILABLE if one == NO_TEXT else str(one)))
        for (one,) in every
    ]
    return np.array(found, np.int64)[place]


def _tensors(
    session: Session, calls: Calls, row: Integers, names: Hashes
) -> tuple[Integers, list[tuple[TensorTexts, TensorTexts]]]:
    """For each operator a number of the tensors that it has, and what those are."""
    spill = session.spill
    rows = session.rows(session.host, "tensor_info")
    if not len(rows) or not len(row):
        nothing = spill.made(np.zeros_like, row)
        return nothing, [(TensorTexts(), TensorTexts())]
    keys = (
        nodes_of(session, calls, rows, "tensor_info"),
        hashes_of(spill, rows["opName"]),
        spill.made(in_order, rows["timeStamp"]),
    )
    order = sorted_rows(spill, *keys)
    # Records of one operator agree in their time; those of the next run of it have another one.
    begins = run_begins(spill, order, *keys)
    first = first_of_each(spill, begins)
    of_runs = [spill.taken(key, spill.taken(order, first)) for key in keys[:2]]
    owner = counterparts(spill, of_runs, (row, names.view(np.int64)))
    lists = TensorLists()
    found = spill.changeable(len(row), 0)
    far = False
    for batch in spill.batches(len(first)):
        end = int(first[batch.stop]) if batch.stop < len(first) else len(order)
        count = np.diff(first[batch], append=end)
        known = owner[batch] >= 0
        far |= bool((count[known] > MOST_RECORDS).any())
        found[owner[batch][known]] = lists.of(rows, order, first[batch][known], count[known])
    if far and session.host is not None:
        text = f"tensor_info: operators with more than {MOST_RECORDS:,} records of tensors"
        session.damage.append(Damage(session.host.folder.path, text, kind="tensor_info"))
    return found, [
        (
            texts_of([one for one in some if one.kind == _INPUT]),
            texts_of([one for one in some if one.kind == _OUTPUT]),
        )
        for some in lists.made
    ]


class TensorLists:
    """Numbers the lists of tensors that operators have; 0 is the empty one."""

    def __init__(self) -> None:
        self.made: list[list[Tensor]] = [[]]
        self._longer: dict[tuple[int, int], int] = {}
        self._kinds: dict[bytes, int] = {}
        self._tensors: list[list[Tensor]] = []

    def of(self, rows: Rows, order: Integers, first: Integers, count: Integers) -> Integers:
        """The lists of operators, each of so many records from a place of the order on."""
        found = np.zeros(len(first), np.int64)
        for turn in range(min(int(count.max(initial=0)), MOST_RECORDS)):
            own = np.flatnonzero(count > turn)
            kind = self._kinds_of(taken(rows, order[first[own] + turn]))
            pairs, place = distinct(found[own], kind)
            found[own] = np.array([self._number(*pair) for pair in pairs], np.int64)[place]
        return found

    def _number(self, former: int, kind: int) -> int:
        if (former, kind) not in self._longer:
            self._longer[former, kind] = len(self.made)
            self.made.append(self.made[former] + self._tensors[kind])
        return self._longer[former, kind]

    def _kinds_of(self, rows: Rows) -> Integers:
        """A number for the tensors of each record."""
        content = rows.view(np.uint8).reshape(len(rows), -1)[:, records.HEAD_SIZE :]
        buffer = pa.py_buffer(np.ascontiguousarray(content))
        kind = pa.binary(content.shape[1])
        encoded = pa.Array.from_buffers(kind, len(rows), [None, buffer]).dictionary_encode()
        place = np.asarray(encoded.indices)
        first = np.zeros(len(encoded.dictionary), np.int64)
        first[place[::-1]] = np.arange(len(place) - 1, -1, -1)
        numbers_of = [
            self._kind(one, rows[row])
            for one, row in zip(encoded.dictionary.to_pylist(), first.tolist(), strict=True)
        ]
        found: Integers = np.array(numbers_of, np.int64)[place]
        return found

    def _kind(self, content: bytes, row: Any) -> int:
        if content not in self._kinds:
            self._kinds[content] = len(self._tensors)
            some = row["tensorData"][: min(int(row["tensorNum"]), records.TENSORS)]
            self._tensors.append(
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
        return self._kinds[content]


def core_name(number: int) -> str:
    """What exporters call the core that the graph engine chose."""
    return NOT_AVAILABLE if number == NONE else named("ge_task_types").get(number, str(number))
