"""The host's calls as records of 40 bytes, and which items they worked on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Capture, Integers, Tasks
from ascend_ref.capture.model import NONE
from ascend_ref.derive.call_classes import HOST_COMMUNICATION, call_class
from ascend_ref.derive.matching import greatest, values_at

from ..binding import Tree
from ..clocks import Clock
from ..vocabulary import enumerated_calls, level, numbered
from .tree import RawTree

MASTER, SLAVE = "master", "slave"

_CLASS_BITS = 16
_FIRST_NODE_CALL = 0x10000
_KERNEL_LAUNCH = ("KernelLaunch", 1_003)


class HostTicks:
    """Calls of a capture in ticks of the host's counter, with their tree.

    rows: of calls by their connection.
    """

    def __init__(self, capture: Capture, clock: Clock) -> None:
        calls = capture.calls
        self.start = clock.ticks(calls.start)
        self.end = clock.ticks(calls.end)
        self.tree = Tree.of(calls.thread, self.start, self.end, calls.level)
        self._order = np.argsort(calls.connection, kind="stable")
        self._connections = calls.connection[self._order]

    def inner(self, connections: Integers) -> Integers:
        """The row of the tree of the call of each connection, NONE where it holds nothing."""
        rows = np.full(len(self.start) + 1, NONE)
        rows[self.tree.place] = np.arange(len(self.tree.place))
        return rows[self.rows_of(connections)]

    def models(self, connections: Integers) -> Integers:
        """The row of the tree of the call of a model around that of each connection."""
        return self.tree.up_to(self.inner(connections), level("MODEL"))

    def model_numbers(self, tasks: Tasks) -> tuple[Integers, Integers]:
        """The model that each call of a model is of, by the row of the tree, and that each task is
        of; NONE for no such call.
        """
        row = self.models(tasks.connection)
        inside = row >= 0
        found = greatest(row[inside], tasks.model[inside], len(self.tree.place))
        found = np.maximum(found, NONE)
        return found, values_at(found, row)

    def rows_of(self, connections: Integers) -> Integers:
        """The row of the call of each connection, NONE where there is no such call."""
        if not len(self._order):
            return np.full(len(connections), NONE)
        at = np.minimum(np.searchsorted(self._connections, connections), len(self._order) - 1)
        return np.where(self._connections[at] == connections, self._order[at], NONE)


def write_calls(
    capture: Capture, tree: RawTree, ticks: HostTicks, items: npt.NDArray[np.uint64]
) -> list[str]:
    """Write the calls; ``items``: for each what a node worked on, 0 for none.

    Calls of communication name their task, those of ACL for communication the operator.
    """
    calls, texts = capture.calls, capture.texts
    rows = tree.rows("api_event", len(calls), "API_EVENT")
    rows["level"] = calls.level
    rows["threadId"] = calls.thread
    rows["beginTime"] = ticks.start
    rows["endTime"] = ticks.end
    rows["itemId"] = items
    models, _ = ticks.model_numbers(capture.tasks)
    of_model = ticks.tree.level == level("MODEL")
    rows["itemId"][ticks.tree.place[of_model]] = models[of_model].astype(np.uint64)
    every = texts.all
    communication = calls.level == level("HCCL_NODE")
    names = np.unique(calls.name[calls.level == level("ACL")])
    of_host = [name for name in names.tolist() if call_class(every[name]) == HOST_COMMUNICATION]
    named = communication | (calls.level == level("ACL")) & np.isin(calls.name, of_host)
    rows["itemId"][named] = tree.hashes(texts, calls.name[named])
    pairs, place = np.unique(
        np.stack([calls.level, np.where(communication, NONE, calls.name)]),
        axis=1,
        return_inverse=True,
    )
    kinds = [
        _type(tree, of, MASTER if name == NONE else every[name]) for of, name in pairs.T.tolist()
    ]
    rows["type"] = np.array(kinds, np.int64)[place.reshape(-1)]
    tree.write("api_event", rows, record="API_EVENT")
    return []


def _type(tree: RawTree, of: int, name: str) -> int:
    """The number of a kind of calls within its layer."""
    if of == level("ACL"):
        return _type_of_acl(tree, of, name)
    if of == level("HCCL_NODE"):
        return tree.known_type(of, numbered("hccl_types")[name], name)
    if of == level("RUNTIME"):
        known, number = _KERNEL_LAUNCH
        if name == known:
            return tree.known_type(of, number, name)
        return tree.type_number(of, name, number + 1)
    values = "node_types" if of == level("NODE") else "model_types"
    found = numbered(values).get(name)
    if found is not None:
        return tree.known_type(of, found, name)
    return tree.type_number(of, name, _FIRST_NODE_CALL + len(numbered(values)))


def _type_of_acl(tree: RawTree, of: int, name: str) -> int:
    """The number of a call of ACL; of one of the graph engine's where real timelines agree."""
    start = numbered("acl_classes")[call_class(name)] << _CLASS_BITS
    every = enumerated_calls(of)
    own = {
        one: number
        for one, number in every.items()
        if number >> _CLASS_BITS == start >> _CLASS_BITS
    }
    if name in own:
        return tree.known_type(of, own[name], name)
    # Which number another call has within its class is not documented; the dictionary shows it.
    return tree.type_number(of, name, max(own.values(), default=start) + 1)
