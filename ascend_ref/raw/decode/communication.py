"""Collectives and their tasks, from what HCCL reports (raw-prof 5, 7.3)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Collectives, Groups, Integers, Texts, Transfers
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import counterparts, groups, ranks

from ..clocks import LIMIT
from ..communication import NOT_COLLECTED, exported_name, kind_of
from ..damage import Damage
from ..fields import numbers
from ..tensors import NOT_AVAILABLE
from ..vocabulary import level, numbered
from .calls import Calls
from .launches import Launches
from .nodes import Hashes, Nodes, nodes_of, text_numbers
from .session import Rows, Session
from .tasks import Launched

Mask = npt.NDArray[np.bool_]

_ALL_ONES = (1 << 32) - 1
_MOST_RANKS = 1 << 20
_INVALID = 65_535
"""What enums of databases hold where a collective's record is missing."""


class Communicated(NamedTuple):
    """Communication of a capture; global ranks of groups are not recorded."""

    collectives: Collectives
    transfers: Transfers
    groups: Groups
    group_ranks: Integers


def read_communication(
    session: Session,
    calls: Calls,
    launches: Launches,
    launched: Launched,
    nodes: Nodes,
    texts: Texts,
) -> Communicated:
    """A collective for each node that holds calls of communication, and the tasks of each."""
    tree = calls.tree
    inner = np.flatnonzero(tree.level == level("HCCL_NODE"))
    owner = tree.up_to(inner, level("NODE"))
    own = np.unique(owner[owner >= 0])
    own = own[np.lexsort((own, tree.start[own]))]
    if not len(own):
        return Communicated(
            Collectives.empty(), Transfers.empty(), Groups.empty(), np.zeros(0, np.int64)
        )
    info = session.rows(session.host, "hccl_info")
    moment = np.where(info["timeStamp"] < LIMIT, info["timeStamp"], 0).astype(np.int64)
    call = calls.holding(info["threadId"].astype(np.int64), moment)
    node = tree.up_to(call, level("NODE"))
    places = Places.of(own, node, len(tree.place))
    place = places.of_record
    operators = session.rows(session.host, "hccl_op_info")
    operator = counterparts(own, 0 * own, nodes_of(session, calls, operators, "hccl_op_info"))
    transfers, ran_on = _transfers(session, calls, launches, launched, info, call, places, texts)
    device = np.full(len(own), next(iter(session.devices), 0))
    device[transfers.collective[::-1]] = ran_on[::-1]
    hashes = _groups_of(own, operators, operator, info, place)
    made, group = _groups(session, device, hashes, info, place, texts)
    names, kinds = _names(session, calls, nodes, own, hashes, group)
    collectives = Collectives(
        name=texts.numbers(names),
        kind=texts.numbers(kinds),
        group=group,
        connection=calls.connections(own),
        device=device,
        step=np.full(len(own), NONE),
        **_facts(session, operators, operator, texts),
    )
    unknown = np.full(int(made.size.max()), NONE)
    return Communicated(collectives, transfers, made, unknown)


class Places(NamedTuple):
    """The place of a collective, NONE outside of all: for each row of the tree, the last for none,
    and for each record of a task.
    """

    of_node: Integers
    of_record: Integers

    @classmethod
    def of(cls, own: Integers, node: Integers, count: int) -> Places:
        """own: rows of the collectives. node: of each record. count: of the rows of the tree."""
        places = np.full(count + 1, NONE)
        places[own] = np.arange(len(own))
        return cls(places, places[node])


def _groups_of(
    own: Integers, operators: Rows, operator: Integers, info: Rows, place: Integers
) -> Hashes:
    """The group of each collective by its number: its own record has it, else one of its tasks."""
    found = np.zeros(len(own), np.uint64)
    known = place >= 0
    found[place[known][::-1]] = info["groupName"][known][::-1]
    has = operator >= 0
    found[has] = operators["groupName"][operator[has]]
    return found


def _groups(
    session: Session,
    device: Integers,
    hashes: Hashes,
    info: Rows,
    place: Integers,
    texts: Texts,
) -> tuple[Groups, Integers]:
    """Every group of each device, and that of each collective."""
    first, group = groups(device, hashes.view(np.int64))
    known = place >= 0
    rank, size = np.full(len(first), NONE), np.zeros(len(first), np.int64)
    at = group[place[known]]
    rank[at] = info["localRank"][known]
    size[at] = info["rankSize"][known]
    size = np.minimum(size, _MOST_RANKS)
    made = Groups(
        name=text_numbers(session, texts, hashes[first]),
        purpose=np.full(len(first), texts.number("")),
        rank=rank,
        first=np.zeros(len(first), np.int64),
        size=size,
    )
    return made, group


def _names(
    session: Session,
    calls: Calls,
    nodes: Nodes,
    own: Integers,
    hashes: Hashes,
    group: Integers,
) -> tuple[list[str], list[str]]:
    """Names, numbered within each group of a device in order, and kinds."""
    basic = counterparts(own, 0 * own, nodes.row)
    item = calls.item[calls.tree.place[own]].copy()
    op_type = item.copy()
    has = basic >= 0
    if nodes.recorded:
        item[has], op_type[has] = nodes.name[basic[has]], nodes.op_type[basic[has]]
    known = session.names.texts
    index = ranks(group)
    names = [
        exported_name(known.get(one, str(one)), of, number)
        for one, of, number in zip(item.tolist(), hashes.tolist(), index.tolist(), strict=True)
    ]
    return names, [kind_of(known.get(one, str(one))) for one in op_type.tolist()]


def _facts(
    session: Session, operators: Rows, operator: Integers, texts: Texts
) -> dict[str, Integers]:
    """What a collective's own record states."""
    declaration = session.declaration("hccl_op_info")
    has = operator >= 0
    rows = operators[operator[has]]
    found = {
        "algorithm": np.full(len(operator), texts.number(NOT_AVAILABLE)),
        "count": np.zeros(len(operator), np.int64),
        "data_type": np.full(len(operator), _INVALID),
        "relay": np.zeros(len(operator), np.int64),
        "retry": np.zeros(len(operator), np.int64),
    }
    found["algorithm"][has] = text_numbers(session, texts, rows["algType"])
    found["count"][has] = rows["count"].astype(np.int64)
    found["data_type"][has] = rows["dataType"]
    for name in ("relay", "retry"):
        found[name][has] = numbers(declaration, name, rows)
    return found


def _transfers(
    session: Session,
    calls: Calls,
    launches: Launches,
    launched: Launched,
    info: Rows,
    call: Integers,
    place: Places,
    texts: Texts,
) -> tuple[Transfers, Integers]:
    """The tasks of collectives, in order of their launch, and the devices that ran them.

    A task without a record of HCCL's is one all the same.
    """
    tasks, launch = launched.tasks, launched.launch
    task_call = np.full(len(launch), NONE)
    known = launch >= 0
    if len(launches.call):
        task_call[known] = launches.call[launch[known]]
    inner = calls.tree.levels(task_call) == level("HCCL_NODE")
    own = np.flatnonzero(inner & ~_around_others(tasks.context, launch))
    own = own[np.lexsort((tasks.identity[own], task_call[own]))]
    collective = place.of_node[calls.tree.up_to(task_call[own], level("NODE"))]
    own, collective = own[collective >= 0], collective[collective >= 0]
    context = np.where(info["ctxId"] == _ALL_ONES, NONE, info["ctxId"].astype(np.int64))
    _, group = groups(
        np.concatenate([task_call[own], call]), np.concatenate([tasks.context[own], context])
    )
    wanted, having = group[: len(own)], group[len(own) :]
    record = counterparts(wanted, ranks(wanted), having)
    has = record >= 0
    lost = len(info) - int(has.sum())
    if lost and session.host is not None:
        text = f"hccl_info: {lost:,} records of tasks that no log of a device shows"
        session.damage.append(Damage(session.host.folder.path, text, kind="hccl_info"))
    rows = info[record[has]]

    def column(values: npt.NDArray[Any], other: int) -> Integers:
        found = np.full(len(own), other)
        found[has] = values
        return found

    masters = rows["type"] == numbered("hccl_types")["master"]
    return Transfers(
        task=tasks.identity[own],
        collective=collective,
        kind=column(text_numbers(session, texts, rows["itemId"]), texts.number(NOT_AVAILABLE)),
        plane=column(rows["planeID"], NONE),
        notify=column(rows["notifyID"].astype(np.int64), NONE),
        source=column(_rank(rows["localRank"]), NONE),
        target=column(_rank(rows["remoteRank"]), NONE),
        size=column(rows["dataSize"].astype(np.int64), NONE),
        transport=column(rows["transportType"], NOT_COLLECTED),
        link=column(rows["linkType"], NOT_COLLECTED),
        data_type=column(rows["dataType"], NOT_COLLECTED),
        rdma=column(rows["rdmaType"], NOT_COLLECTED),
        master=column(masters, 1),
    ), tasks.device[own]


def _around_others(context: Integers, launch: Integers) -> Mask:
    """Which tasks are whole ones whose sub-tasks are known."""
    has_parts = np.zeros(int(launch.max(initial=NONE)) + 2, np.bool_)
    has_parts[launch[context >= 0]] = True
    has_parts[NONE] = False
    return (context < 0) & has_parts[launch]


def _rank(column: npt.NDArray[np.uint32]) -> Integers:
    return np.where(column == _ALL_ONES, NONE, column.astype(np.int64))
