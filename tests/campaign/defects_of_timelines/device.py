"""Slices of the device."""

from __future__ import annotations

from damaged_profiles import Event
from exporter_defects import Inapplicable

from .layers import next_values, on_layer, shift


@on_layer("Ascend Hardware", "tasks of one stream overlap")
def hardware_lengths_in_ns(events: list[Event]) -> None:
    """Durations are written in ns."""
    for event in events:
        event["dur"] *= 1000


@on_layer("Ascend Hardware", "the computing time is longer than all kernels")
def hardware_lengths_in_ms(events: list[Event]) -> None:
    """Durations are written in ms."""
    for event in events:
        event["dur"] = round(event["dur"] / 1000, 6)


@on_layer("Ascend Hardware", "tasks of one stream overlap")
def hardware_ends_for_lengths(events: list[Event]) -> None:
    """The end is written under the name of the length."""
    for event in events:
        event["dur"] = float(event["ts"]) + event["dur"]


@on_layer("Ascend Hardware", "the computing time has no tasks")
def hardware_second_half_lost(events: list[Event]) -> list[Event]:
    """A slice of records is lost."""
    return events[: len(events) // 2]


@on_layer("Ascend Hardware", "arrows end at tasks that are absent")
def hardware_every_tenth_task_lost(events: list[Event]) -> list[Event]:
    """Records are dropped when the buffer is full."""
    return [event for at, event in enumerate(events) if at % 10]


@on_layer("Ascend Hardware", "every task is there twice")
def hardware_tasks_twice(events: list[Event]) -> list[Event]:
    """The slices are flushed twice."""
    return [*events, *(dict(event) for event in events)]


@on_layer("Ascend Hardware", "a kernel's name has another task type")
def hardware_names_of_the_next(events: list[Event]) -> None:
    """Names are joined one task too late."""
    next_values(events, "name")


@on_layer("Ascend Hardware", "launches and tasks are in another order")
def hardware_connections_of_the_next(events: list[Event]) -> None:
    """Connections are joined one task too late."""
    next_values(events, "args", "connection_id")


@on_layer("Ascend Hardware", "the arrow of a task has another number")
def hardware_connections_off_by_one(events: list[Event]) -> None:
    """Connections are counted from 1."""
    for event in events:
        if "connection_id" in event["args"]:
            event["args"]["connection_id"] += 1


@on_layer("Ascend Hardware", "the thread has another stream")
def hardware_streams_off_by_one(events: list[Event]) -> None:
    """The physical stream is another than that of the thread."""
    for event in events:
        if "Physic Stream Id" in event["args"]:
            event["args"]["Physic Stream Id"] += 1


@on_layer("Ascend Hardware", "tasks of one stream overlap")
def hardware_on_one_stream(events: list[Event]) -> None:
    """The stream of a task is not looked up."""
    if len({event["tid"] for event in events}) < 2:
        raise Inapplicable
    first = events[0]["tid"]
    for event in events:
        event["tid"] = first


@on_layer("Ascend Hardware", "a slice has a negative length")
def hardware_negative_lengths(events: list[Event]) -> None:
    """Start and end are exchanged."""
    for event in events:
        event["dur"] = -event["dur"]


@on_layer("Ascend Hardware", "task types are words of a list")
def hardware_task_types_lower(events: list[Event]) -> None:
    """The task type is printed in lower case."""
    for event in events:
        event["args"]["Task Type"] = event["args"]["Task Type"].lower()


@on_layer("Ascend Hardware", "core types of arrows and of computing contradict")
def hardware_task_types_of_the_next(events: list[Event]) -> None:
    """Task types are joined one task too late."""
    next_values(events, "args", "Task Type")


@on_layer("Ascend Hardware", "kernels start before their launch")
def hardware_two_milliseconds_early(events: list[Event]) -> None:
    """The device's clock is adjusted with the wrong offset; arrows are drawn before."""
    for event in events:
        shift(event, -2000)


@on_layer("Ascend Hardware", "times of tasks have digits of us")
def hardware_starts_in_whole_us(events: list[Event]) -> None:
    """Starts are cut to whole microseconds."""
    for event in events:
        event["ts"] = event["ts"].partition(".")[0] + ".000"
