"""Calls of the host and of the framework."""

from __future__ import annotations

from damaged_profiles import Event
from exporter_defects import Inapplicable

from .layers import next_values, on_layer, shift

# Calls of the host.


@on_layer("CANN", "calls do not lie in those that make them")
def cann_lengths_in_ns(events: list[Event]) -> None:
    """Durations are written in ns."""
    for event in events:
        event["dur"] *= 1000


@on_layer("CANN", "a call that is inside another is longer")
def cann_lengths_of_the_next(events: list[Event]) -> None:
    """Durations are joined one call too late."""
    next_values(events, "dur")


@on_layer("CANN", "arrows start at calls that are absent")
def cann_second_half_lost(events: list[Event]) -> list[Event]:
    """A slice of records is lost."""
    return events[: len(events) // 2]


@on_layer("CANN", "every call is there twice")
def cann_calls_twice(events: list[Event]) -> list[Event]:
    """The slices are flushed twice."""
    return [*events, *(dict(event) for event in events)]


@on_layer("CANN", "acl functions are not of the runtime")
def cann_levels_exchanged(events: list[Event]) -> None:
    """The levels acl and runtime are exchanged."""
    other = {"acl": "runtime", "runtime": "acl"}
    for event in events:
        level = event["args"]["level"]
        event["args"]["level"] = other.get(level, level)


@on_layer("CANN", "the level in the name is another")
def cann_levels_of_the_next(events: list[Event]) -> None:
    """Levels are joined one call too late."""
    next_values(events, "args", "level")


@on_layer("CANN", "the arrows of these calls have other numbers")
def cann_connections_of_the_next(events: list[Event]) -> None:
    """Connections are joined one call too late."""
    next_values(events, "args", "connection_id")


@on_layer("CANN", "threads have numbers that no thread has")
def cann_thread_in_args_differs(events: list[Event]) -> None:
    """The number of the process is written for that of the thread."""
    for event in events:
        event["args"]["Thread Id"] += 1


# The framework.


@on_layer("Python", "enqueue and dequeue have no partner")
def python_correlations_of_the_next(events: list[Event]) -> None:
    """Correlations are joined one call too late."""
    next_values(
        [event for event in events if event.get("cat") == "dequeue"], "args", "correlation_id"
    )


@on_layer("Python", "calls do not lie in those that make them")
def python_lengths_in_ns(events: list[Event]) -> None:
    """Durations are written in ns."""
    for event in events:
        event["dur"] *= 1000


@on_layer("Python", "steps and launches have no call")
def python_five_milliseconds_late(events: list[Event]) -> None:
    """The framework's clock is adjusted with the wrong offset; arrows are drawn before."""
    for event in events:
        shift(event, 5000)


@on_layer("Python", "every call is there twice")
def python_calls_twice(events: list[Event]) -> list[Event]:
    """The slices are flushed twice."""
    return [*events, *(dict(event) for event in events)]


@on_layer("Python", "arrows start at calls that are absent")
def python_second_half_lost(events: list[Event]) -> list[Event]:
    """A slice of records is lost."""
    return events[: len(events) // 2]


@on_layer("Python", "types and shapes have other numbers of entries")
def python_shapes_and_types_exchanged(events: list[Event]) -> None:
    """Two members are written under each other's name."""
    found = [event["args"] for event in events if "Input Dims" in event.get("args", {})]
    if not found:
        raise Inapplicable
    for args in found:
        args["Input Dims"], args["Input type"] = args["Input type"], args["Input Dims"]


@on_layer("Python", "dequeues are on the thread that launches")
def python_queue_on_one_thread(events: list[Event]) -> None:
    """The thread of a call is not looked up."""
    if len({event["tid"] for event in events}) < 2:
        raise Inapplicable
    first = events[0]["tid"]
    for event in events:
        event["tid"] = first
