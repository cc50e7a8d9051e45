"""Collectives and their tasks, from what HCCL reports (raw-prof 5, 7.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Collectives, Groups, Integers, Texts, Transfers
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import distinct, groups, ranks
from ascend_ref.spill import Spill, batches, counterparts, sorted_rows

from ..binding import Tree
from ..communication import NOT_COLLECTED, enum_types, exported_name, kind_of, no_type
from ..damage import Damage
from ..fields import numbers, whole
from ..tensors import NOT_AVAILABLE
from ..vocabulary import level, numbered
from .calls import Calls
from .launches import Launches
from .nodes import Hashes, Nodes, moments, nodes_of, text_numbers
from .origins import NO_PLACE, Origin, Source
from .session import Rows, Session
from .tasks import Launched

Mask = npt.NDArray[np.bool_]

_ALL_ONES = (1 << 32) - 1
_MOST_RANKS = 1 << 20


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
    spill, tree = session.spill, calls.tree
    inner = spill.where(lambda of: of == level("HCCL_NODE"), tree.level)
    own = _collectives(spill, tree, inner)
    if not len(own):
        return Communicated(
            Collectives.empty(), Transfers.empty(), Groups.empty(), np.zeros(0, np.int64)
        )
    info = session.rows(session.host, "hccl_info")
    call = calls.holding(
        spill.made(whole, info["threadId"]), spill.made(moments, info["timeStamp"])
    )
    places = Places.of(spill, own, tree.up_to(call, level("NODE")), len(tree.place))
    place = places.of_record
    operators = session.rows(session.host, "hccl_op_info")
    of_operators = nodes_of(session, calls, operators, "hccl_op_info")
    operator = counterparts(spill, [own], [of_operators], share_first=True)
    transfers, ran_on = _transfers(session, calls, launches, launched, info, call, places, texts)
    device = np.full(len(own), next(iter(session.devices), 0))
    _first_of_owners(spill, device, transfers.collective, ran_on)
    hashes = _groups_of(spill, own, operators, operator, info, place)
    made, group = _groups(session, device, hashes, info, place, texts)
    names, kinds = _names(session, calls, nodes, own, hashes, group)
    connections = calls.connections(own)
    _note_origin(session, connections, operator)
    collectives = Collectives(
        name=texts.numbers(names),
        kind=texts.numbers(kinds),
        group=group,
        connection=connections,
        device=device,
        step=np.full(len(own), NONE),
        **_facts(session, operators, operator, texts),
    )
    unknown = np.full(int(made.size.max()), NONE)
    return Communicated(collectives, transfers, made, unknown)


def _note_origin(session: Session, connections: Integers, operator: Integers) -> None:
    """Note the records of collectives."""
    if session.origins is None or session.host is None:
        return
    source = Source(session.host, "hccl_op_info", "HCCL_OP_INFO")
    found = session.spill.changeable(int(connections.max()) + 1, NO_PLACE)
    found[connections] = session.origins.places(session.spill, source, operator)
    session.origins.tables["COMMUNICATION_OP"] = Origin(found, "connectionId")


def _collectives(spill: Spill, tree: Tree, inner: Integers) -> Integers:
    """The rows of the nodes that hold calls of communication, in order of start."""
    marks = spill.marks(len(tree.place), tree.up_to(inner, level("NODE")))
    own = spill.where(lambda mark: mark, marks)
    return spill.taken(own, sorted_rows(spill, spill.taken(tree.start, own)))


def _first_of_owners(
    spill: Spill, values: npt.NDArray[Any], owner: Integers, column: npt.NDArray[Any]
) -> None:
    """Put into ``values`` for each owner, NONE for none, the first value of a column."""
    for batch in reversed(list(batches(len(owner)))):
        own = owner[batch][::-1]
        known = own >= 0
        values[own[known]] = column[batch][::-1][known]
        spill.release()


class Places(NamedTuple):
    """The place of a collective, NONE outside of all: for each row of the tree, and for each record
    of a task.
    """

    of_node: Integers
    of_record: Integers

    @classmethod
    def of(cls, spill: Spill, own: Integers, node: Integers, count: int) -> Places:
        """own: rows of the collectives. node: of each record. count: of the rows of the tree."""
        places = spill.changeable(count, NONE)
        for batch in spill.batches(len(own)):
            places[own[batch]] = np.arange(batch.start, batch.stop)
        return cls(places, spill.values_at(places, node))


def _groups_of(
    spill: Spill,
    own: Integers,
    operators: Rows,
    operator: Integers,
    info: Rows,
    place: Integers,
) -> Hashes:
    """The group of each collective by its number: its own record has it, else one of its tasks."""
    found = np.zeros(len(own), np.uint64)
    _first_of_owners(spill, found, place, info["groupName"])
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
    rank, size = np.full(len(first), NONE), np.zeros(len(first), np.int64)
    for batch in session.spill.batches(len(place)):
        known = place[batch] >= 0
        at = group[place[batch][known]]
        rank[at] = info["localRank"][batch][known]
        size[at] = info["rankSize"][batch][known]
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
    basic = counterparts(session.spill, [own], [nodes.row], share_first=True)
    item = calls.items(own).view(np.uint64).copy()
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
    types, place = distinct(op_type)
    kinds = [kind_of(known.get(one, str(one))) for (one,) in types]
    return names, [kinds[one] for one in place.tolist()]


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
        "data_type": np.full(len(operator), no_type()),
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
    places: Places,
    texts: Texts,
) -> tuple[Transfers, Integers]:
    """The tasks of collectives, in order of their launch, and the devices that ran them.

    A task without a record of HCCL's is one all the same.
    """
    spill, tree = calls.spill, calls.tree
    tasks = launched.tasks
    own, of_call = _tasks_of(spill, calls, launches, launched)
    collective = spill.values_at(places.of_node, tree.up_to(of_call, level("NODE")))
    known = spill.where(lambda one: one >= 0, collective)
    own, of_call, collective = (spill.taken(one, known) for one in (own, of_call, collective))
    wanted = [of_call, spill.taken(tasks.context, own)]
    record = counterparts(spill, wanted, [call, spill.made(_number, info["ctxId"])])
    lost = len(info) - len(spill.where(lambda one: one >= 0, record))
    if lost and session.host is not None:
        text = f"hccl_info: {lost:,} records of tasks that no log of a device shows"
        session.damage.append(Damage(session.host.folder.path, text, kind="hccl_info"))

    def column(name: str, other: int, values: Callable[[Rows], Rows] = whole) -> Integers:
        def found(row: Integers) -> Integers:
            has = row >= 0
            cells = np.full(len(row), other)
            cells[has] = values(info[name][row[has]])
            return cells

        return spill.made(found, record)

    task = spill.taken(tasks.identity, own)
    if session.origins is not None and session.host is not None:
        source = Source(session.host, "hccl_info", "HCCL_INFO")
        stands = session.origins.places(spill, source, record)
        table = "COMMUNICATION_TASK_INFO"
        session.origins.by_number(spill, table, len(tasks), task, stands)
    master = numbered("hccl_types")["master"]
    return Transfers(
        task=task,
        collective=collective,
        kind=column(
            "itemId",
            texts.number(NOT_AVAILABLE),
            lambda hashes: text_numbers(session, texts, hashes),
        ),
        plane=column("planeID", NONE),
        notify=column("notifyID", NONE),
        source=column("localRank", NONE, _number),
        target=column("remoteRank", NONE, _number),
        size=column("dataSize", NONE),
        transport=column("transportType", NOT_COLLECTED, _type),
        link=column("linkType", NOT_COLLECTED, _type),
        data_type=column("dataType", NOT_COLLECTED, _type),
        rdma=column("rdmaType", NOT_COLLECTED, _type),
        master=column("type", 1, lambda kind: kind == master),
    ), spill.taken(tasks.device, own)


def _tasks_of(
    spill: Spill, calls: Calls, launches: Launches, launched: Launched
) -> tuple[Integers, Integers]:
    """The tasks that calls of communication launched, in order of these, and their calls.

    Not those of which sub-tasks are known.
    """
    tasks, launch = launched.tasks, launched.launch
    parts = spill.taken(launch, spill.where(lambda context: context >= 0, tasks.context))
    has_parts = spill.marks(len(launches.call), parts)
    inner = level("HCCL_NODE")

    def is_own(layer: Integers, context: Integers, launch: Integers) -> Mask:
        found: Mask = layer == inner
        found[found] = (context[found] >= 0) | ~spill.gathered(has_parts, launch[found])
        return found

    call = spill.values_at(launches.call, launch)
    own = spill.where(is_own, calls.tree.levels(call), tasks.context, launch)
    of_call = spill.taken(call, own)
    order = sorted_rows(spill, of_call, spill.taken(tasks.identity, own))
    return spill.taken(own, order), spill.taken(of_call, order)


def _type(column: npt.NDArray[np.uint32]) -> Integers:
    """Types as databases number them."""
    return enum_types(column.astype(np.int64))


def _number(column: npt.NDArray[np.uint32]) -> Integers:
    """Ranks and contexts, NONE where all bits stand for none."""
    return np.where(column == _ALL_ONES, NONE, column.astype(np.int64))
