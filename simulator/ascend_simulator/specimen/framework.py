"""Rows of the tables that the torch exporter adds for the framework's host activity."""

from __future__ import annotations

from itertools import chain

from ascend_ref.db.encode.framework_order import PLAIN_CONNECTION_DISTANCE
from ascend_ref.db.encode.habits import Habits

from .tasks import Row, Rows, global_tid
from .world import FIRST_STEP, MAIN_THREAD, Activity, Link, World


def framework_tables(world: World, habits: Habits) -> dict[str, Rows]:
    """Rows of PYTORCH_API, CONNECTION_IDS, PYTORCH_CALLCHAINS, STEP_TIME and GC_RECORD."""
    ordered = _in_order(world)
    _number_links(world, ordered, habits)
    identities = _connection_identities(ordered, habits)
    chains = [row for row in ordered if row.stack]
    chain_of = {id(row): number for number, row in enumerate(chains)}
    connected = sorted((identities[id(row)], row) for row in ordered if id(row) in identities)
    return {
        "PYTORCH_API": [
            _api_row(row, identities.get(id(row)), chain_of.get(id(row)), habits) for row in ordered
        ],
        "CONNECTION_IDS": [
            {"id": identity, "connectionId": connection}
            for identity, row in connected
            for connection in _connections(row)
        ],
        "PYTORCH_CALLCHAINS": [
            {"id": number, "stack": frame, "stackDepth": depth}
            for number, row in enumerate(chains)
            for depth, frame in enumerate(row.stack)
        ],
        "STEP_TIME": [
            {"id": FIRST_STEP + number, "startNs": start, "endNs": end}
            for number, (start, end) in enumerate(world.steps)
        ],
        "GC_RECORD": [
            {"startNs": start, "endNs": end, "globalTid": global_tid(MAIN_THREAD)}
            for start, end in world.collections
        ],
    }


def _in_order(world: World) -> list[Activity]:
    """The exporter's order: Python trace, Enqueue, Dequeue, operators, mstx."""

    def section(row: Activity) -> int:
        if row.kind == "queue":
            return 1 if row.enters_queue else 2
        return {"trace": 0, "op": 3, "mstx": 4}[row.kind]

    return sorted(world.activities, key=lambda row: (section(row), row.start, -row.end))


def _number_links(world: World, ordered: list[Activity], habits: Habits) -> None:
    """Queue entries first, then the pairs of forward and backward operators (db-schema.md 4.5)."""
    number = habits.private_connections
    if number is None:
        number = max(call.connection for call in world.calls) + PLAIN_CONNECTION_DISTANCE
    links: dict[int, Link] = {id(row.link): row.link for row in ordered if row.link}
    for link in sorted(links.values(), key=lambda link: not link.queue):
        link.connection = number
        number += 1


def _connection_identities(ordered: list[Activity], habits: Habits) -> dict[int, int]:
    """CONNECTION_IDS.id of each linked row, by ``id`` of the row object."""
    queue = [row for row in ordered if row.kind == "queue"]
    if habits.private_connections is not None:
        queue.sort(key=lambda row: row.enters_queue)
    others = (row for row in ordered if row.kind != "queue" and (row.calls or row.link))
    return {id(row): number for number, row in enumerate(chain(queue, others))}


def _connections(row: Activity) -> list[int]:
    private = [row.link.connection] if row.link else []
    return [call.connection for call in row.calls] + private


def _api_row(row: Activity, identity: int | None, chain_id: int | None, habits: Habits) -> Row:
    operator = row.kind in ("op", "mstx")
    return {
        "startNs": row.start,
        "endNs": row.end,
        "globalTid": global_tid(row.thread),
        "connectionId": identity,
        "name": _name(row, habits),
        "sequenceNumber": row.sequence if operator else None,
        "fwdThreadId": row.forward_thread if operator else None,
        "inputDtypes": row.data_types,
        "inputShapes": row.shapes,
        "callchainId": chain_id,
        "type": "op" if row.kind == "mstx" and habits.private_connections is not None else row.kind,
    }


def _name(row: Activity, habits: Habits) -> str:
    if row.kind != "queue":
        return row.name
    if not row.enters_queue:
        return f"Dequeue@{row.name}"
    return f"Enqueue@{row.name}" if habits.enqueue_named else "Enqueue"
