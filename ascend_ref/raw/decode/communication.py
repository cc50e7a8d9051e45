"""Collectives and their tasks, from what HCCL reports (raw-prof 5, 7.3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Collectives, Groups, Integers, Texts, Transfers
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import counterparts, groups, ranks

from ..clocks import LIMIT
from ..collective_names import exported_name, kind_of
from ..damage import Damage
from ..fields import numbers
from ..tensors import NOT_AVAILABLE
from ..vocabulary import level, numbered
from .calls import Calls
from .launches import Launches
from .nodes import Hashes, Nodes, nodes_of, text_numbers
from .session import Rows, Session
from .tasks import Launched

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
    place = _places(own, node, len(tree.place))
    operators = session.rows(session.host, "hccl_op_info")
    operator = counterparts(own, 0 * own, nodes_of(session, calls, operators, "hccl_op_info"))
    group_of = _groups_of(own, operators, operator, info, place)
    found, groups_, group = _groups(session, group_of, info, place, texts)
    names, kinds = _names(session, calls, nodes, own, found[group] if len(found) else group_of)
    transfers, device = _transfers(session, calls, launches, launched, info, call, place, texts)
    first_device = np.full(len(own), next(iter(session.devices), 0))
    first_device[place[device >= 0][::-1]] = device[device >= 0][::-1]
    collectives = Collectives(
        name=texts.numbers(names),
        kind=texts.numbers(kinds),
        group=group,
        connection=calls.connections(own),
        device=first_device,
        step=np.full(len(own), NONE),
        **_facts(session, operators, operator, texts),
    )
    ranks_ = np.full(int(groups_.size.max()), NONE)
    return Communicated(collectives, transfers, groups_, ranks_)


def _places(own: Integers, node: Integers, count: int) -> Integers:
    """For each record the place of its collective, NONE outside of all."""
    places = np.full(count + 1, NONE)
    places[own] = np.arange(len(own))
    return places[node]


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
    session: Session, group_of: Hashes, info: Rows, place: Integers, texts: Texts
) -> tuple[Hashes, Groups, Integers]:
    """Every group, by its number and as the capture has it, and the group of each collective."""
    every, group = np.unique(group_of, return_inverse=True)
    group = group.reshape(-1)
    known = place >= 0
    rank, size = np.full(len(every), NONE), np.zeros(len(every), np.int64)
    at = group[place[known]]
    rank[at] = info["localRank"][known]
    size[at] = info["rankSize"][known]
    size = np.minimum(size, _MOST_RANKS)
    made = Groups(
        name=text_numbers(session, texts, every),
        purpose=np.full(len(every), texts.number("")),
        rank=rank,
        first=np.zeros(len(every), np.int64),
        size=size,
    )
    return every, made, group


def _names(
    session: Session, calls: Calls, nodes: Nodes, own: Integers, group: Hashes
) -> tuple[list[str], list[str]]:
    """Names, numbered within each group in order, and kinds."""
    basic = counterparts(own, 0 * own, nodes.row)
    item = calls.item[calls.tree.place[own]].copy()
    op_type = item.copy()
    has = basic >= 0
    item[has], op_type[has] = nodes.name[basic[has]], nodes.op_type[basic[has]]
    known = session.names.texts
    index = ranks(np.unique(group, return_inverse=True)[1].reshape(-1))
    names = [
        exported_name(known.get(one, str(one)), of, number)
        for one, of, number in zip(item.tolist(), group.tolist(), index.tolist(), strict=True)
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
    place: Integers,
    texts: Texts,
) -> tuple[Transfers, Integers]:
    """The tasks of collectives, and for each record of HCCL the device that ran it."""
    tasks, launch = launched.tasks, launched.launch
    context = np.where(info["ctxId"] == _ALL_ONES, NONE, info["ctxId"].astype(np.int64))
    task_call = np.full(len(launch), NONE)
    known = launch >= 0
    if len(launches.call):
        task_call[known] = launches.call[launch[known]]
    order = np.lexsort((tasks.identity, task_call))
    keys = (
        np.concatenate([task_call[order], call]),
        np.concatenate([tasks.context[order], context]),
    )
    _, group = groups(*keys)
    having, wanted = group[: len(order)], group[len(order) :]
    found = counterparts(wanted, ranks(wanted), having)
    right = (found >= 0) & (place >= 0) & (call >= 0)
    lost = int(np.sum(~right))
    if lost and session.host is not None:
        text = f"hccl_info: {lost:,} records of tasks that no log of a device shows"
        session.damage.append(Damage(session.host.folder.path, text))
    device = np.full(len(info), NONE)
    row = order[found[right]]
    device[right] = tasks.device[row]
    rows = info[right]
    return Transfers(
        task=tasks.identity[row],
        collective=place[right],
        kind=text_numbers(session, texts, rows["itemId"]),
        plane=rows["planeID"].astype(np.int64),
        notify=rows["notifyID"].astype(np.int64),
        source=_rank(rows["localRank"]),
        target=_rank(rows["remoteRank"]),
        size=rows["dataSize"].astype(np.int64),
        transport=rows["transportType"].astype(np.int64),
        link=rows["linkType"].astype(np.int64),
        data_type=rows["dataType"].astype(np.int64),
        rdma=rows["rdmaType"].astype(np.int64),
        master=(rows["type"] == numbered("hccl_types")["master"]).astype(np.int64),
    ), device


def _rank(column: npt.NDArray[np.uint32]) -> Integers:
    return np.where(column == _ALL_ONES, NONE, column.astype(np.int64))
