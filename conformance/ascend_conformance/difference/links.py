"""Numbers that only link the rows of one database: their kinds, and which tables have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ascend_spec.db.model import Column

LINKS = frozenset(("callchainId", "connectionId", "globalTaskId", "operatorId"))
"""Value types of numbers that link rows."""
CALL = "call"
"""Kind of the numbers by which calls of the framework find their links."""
STACKS = "PYTORCH_CALLCHAINS"
CONNECTIONS = "CONNECTION_IDS"

OWNERS: Mapping[str, tuple[str, str]] = {
    "CANN_API": ("connectionId", "connectionId"),
    "MSTX_EVENTS": ("connectionId", "connectionId"),
    "PYTORCH_API": (CALL, "connectionId"),
    "TASK": ("globalTaskId", "globalTaskId"),
    "COMMUNICATION_OP": ("operatorId", "opId"),
}
"""The kind of number that the rows of a table have, and its column; in the order in which they can
be paired."""


def kind_of(column: Column) -> str | None:
    """The kind of number that a column holds; ``None``: it is no number that leads to a row."""
    calls = {f"{CONNECTIONS}.id", "PYTORCH_API.connectionId"}
    if calls.intersection(column.references):
        return CALL
    if column.type == "globalTaskId" and not column.references:
        return None  # numbers of other tasks than those of TASK
    return column.type


def links_of(columns: Mapping[str, Column]) -> Iterator[Column]:
    """The columns of a table that link rows."""
    return (one for one in columns.values() if one.type in LINKS)
