"""Collectives, and what they overlap."""

from __future__ import annotations

from damaged_profiles import Event

from .layers import COLLECTIVES, next_values, on_layer

# Collectives.


@on_layer(COLLECTIVES, "tasks last longer than their collective")
def communication_lengths_in_ns(events: list[Event]) -> None:
    """Durations of the tasks are written in ns."""
    for event in events:
        if "task type" in event["args"]:
            event["dur"] *= 1000


@on_layer(COLLECTIVES, "size divided by duration is not the bandwidth")
def communication_sizes_in_kb(events: list[Event]) -> None:
    """KB are written under a name that says bytes."""
    for event in events:
        if event["args"].get("size(Byte)"):
            event["args"]["size(Byte)"] //= 1024


@on_layer(COLLECTIVES, "size divided by duration is not the bandwidth")
def communication_bandwidth_in_mb(events: list[Event]) -> None:
    """MB/s are written under a name that says GB/s."""
    for event in events:
        if event["args"].get("bandwidth(GB/s)"):
            event["args"]["bandwidth(GB/s)"] *= 1000


@on_layer(COLLECTIVES, "local copies go to another rank")
def communication_ranks_exchanged(events: list[Event]) -> None:
    """Source and destination are exchanged."""
    for event in events:
        if "src rank" in event["args"]:
            args = event["args"]
            args["src rank"], args["dst rank"] = args["dst rank"], args["src rank"]


@on_layer(COLLECTIVES, "the task type is not that of the name")
def communication_task_types_of_the_next(events: list[Event]) -> None:
    """Task types are joined one task too late."""
    next_values(events, "args", "task type")


@on_layer(COLLECTIVES, "a transport has one kind of link")
def communication_transports_of_the_next(events: list[Event]) -> None:
    """Transports are joined one task too late."""
    next_values(events, "args", "transport type")


@on_layer(COLLECTIVES, "every slice is there twice")
def communication_slices_twice(events: list[Event]) -> list[Event]:
    """The slices are flushed twice."""
    return [*events, *(dict(event) for event in events)]


@on_layer(COLLECTIVES, "collectives have fewer tasks than planes, and communication has no task")
def communication_second_half_lost(events: list[Event]) -> list[Event]:
    """A slice of records is lost."""
    return events[: len(events) // 2]


@on_layer(COLLECTIVES, "tasks lie outside their collective")
def communication_names_of_the_next(events: list[Event]) -> None:
    """Names are joined one slice too late."""
    next_values(events, "name")


# Overlap.


@on_layer("Overlap Analysis", "computing is not the union of the kernels")
def overlap_computing_and_communication_exchanged(events: list[Event]) -> None:
    """Two kinds are written under each other's name."""
    other = {"Computing": "Communication", "Communication": "Computing"}
    for event in events:
        event["name"] = other.get(event["name"], event["name"])


@on_layer("Overlap Analysis", "the union has holes where kernels run")
def overlap_of_the_first_half(events: list[Event]) -> list[Event]:
    """A slice of records is lost."""
    return events[: len(events) // 2]


@on_layer("Overlap Analysis", "slices of one kind overlap")
def overlap_lengths_in_ns(events: list[Event]) -> None:
    """Durations are written in ns."""
    for event in events:
        event["dur"] *= 1000


@on_layer("Overlap Analysis", "slices of one kind overlap")
def overlap_twice(events: list[Event]) -> list[Event]:
    """The slices are flushed twice."""
    return [*events, *(dict(event) for event in events)]


@on_layer("Overlap Analysis", "there is no free time between kernels")
def overlap_without_free(events: list[Event]) -> list[Event]:
    """A kind is not written."""
    return [event for event in events if event["name"] != "Free"]
