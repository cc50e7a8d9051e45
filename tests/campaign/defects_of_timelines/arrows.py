"""Arrows."""

from __future__ import annotations

from damaged_profiles import Timeline
from exporter_defects import defect

from .layers import next_values, replace_events, shift

ARROWS = ("HostToDevice", "async_npu", "async_task_queue", "fwdbwd")


def _arrows(category: str) -> None:
    lower = category.lower().replace("_", "-")

    @defect("timeline", "no launch is connected with its task", f"{lower}-arrows-absent")
    def absent(timeline: Timeline) -> None:
        """Arrows are not written."""
        replace_events(timeline, timeline.flows(category), [])
        timeline.write()

    @defect("timeline", "arrows start and end nowhere", f"{lower}-arrows-without-ends")
    def endless(timeline: Timeline) -> None:
        """The ends are not written."""
        replace_events(timeline, timeline.flows(category, "f"), [])
        timeline.write()

    @defect("timeline", "an arrow leads from one call to the task of another", f"{lower}-ids-next")
    def next_ids(timeline: Timeline) -> None:
        """Ends are joined one arrow too late."""
        next_values(timeline.flows(category, "f"), "id")
        timeline.write()

    @defect("timeline", "arrows end where no slice starts", f"{lower}-ends-ten-us-early")
    def early(timeline: Timeline) -> None:
        """Arrows are drawn before clocks are adjusted."""
        for event in timeline.flows(category, "f"):
            shift(event, -10)
        timeline.write()

    @defect("timeline", "calls in the second half have no arrow", f"{lower}-second-half-absent")
    def half(timeline: Timeline) -> None:
        """A slice of records is lost."""
        events = timeline.flows(category)
        ids = sorted({str(event["id"]) for event in events})
        kept = set(ids[: len(ids) // 2])
        replace_events(timeline, events, [one for one in events if str(one["id"]) in kept])
        timeline.write()


for _category in ARROWS:
    _arrows(_category)
