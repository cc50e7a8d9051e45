"""The tables of a capture that are made of operators, functions and entries of the queue."""

from __future__ import annotations

from dataclasses import replace

from ascend_ref.capture import Activities, Capture, Frames
from ascend_ref.derive.launches import launches
from ascend_ref.derive.passes import passes

from .steps import steps_of


def with_activities(
    capture: Capture,
    functions: Activities,
    queue: Activities,
    operators: Activities,
    frames: Frames,
) -> Capture:
    """The capture with these activities, and with the steps and links that follow from them.

    ``queue``: what passes the queue of tasks, linked by numbers from 0.
    """
    linked = replace(operators, link=passes(operators, int(queue.link.max(initial=-1)) + 1))
    activities = Activities.joined([functions, queue, linked])
    made = replace(
        capture,
        activities=activities,
        frames=frames,
        steps=steps_of(activities, capture.texts),
    )
    return replace(made, links=launches(made))
