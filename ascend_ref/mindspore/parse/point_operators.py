"""Which operators points of steps refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from .point_tags import Tags
from .steps import Point

PROFILING = "Profiling-op"
"""In the name of an operator that is there for the profiler alone (mindspore-profiler 2.3)."""


@dataclass(frozen=True, slots=True)
class PointOperators:
    """Full names of operators of points by their tags, and by the keys of their tasks.

    ``key``: of the task of a point; empty where names go by tags. ``unknown``: tasks of points that
    the framework does not have.
    """

    by_tag: Mapping[int, str]
    by_task: Mapping[str, str]
    key: Callable[[Point], str]
    unknown: frozenset[str] = frozenset()

    @classmethod
    def of_tasks(
        cls,
        points: Iterable[Point],
        names: Mapping[str, str],
        tags: Tags,
        key: Callable[[Point], str],
        by_task: bool,
    ) -> PointOperators:
        """The operators next to the tasks of the points, in the order of ``names``, by their keys.

        Of several tasks of a tag the last one counts, and of several tags of a task.
        """
        tasks: dict[int, str] = {}
        found: dict[str, int] = {}
        for point in points:
            tasks[point.tag] = found_key = key(point)
            found[found_key] = point.tag
        every = list(names.values())
        places = {name: place for place, name in enumerate(names)}

        def name_of(task: str, tag: int) -> str:
            return _name_at(places.get(task), tag, every, tags)

        return cls(
            {tag: name_of(task, tag) for tag, task in tasks.items()},
            {task: name_of(task, tag) for task, tag in found.items()} if by_task else {},
            key if by_task else lambda point: "",
            frozenset(found.keys() - places.keys()),
        )

    def name_of_reduction(self, point: Point) -> str:
        """The full name of the operator at a point; empty where it is not known."""
        task = self.key(point)
        return self.by_task.get(task, "") if task else self.by_tag.get(point.tag, "")


def _name_at(place: int | None, tag: int, names: list[str], tags: Tags) -> str:
    """The name of the operator that a point refers to, next to its own."""
    if place is None:
        return ""
    before = (tags.names["BP_END"], tags.end, tags.names["MODEL_END"])
    if tag == tags.names["MODEL_START"]:
        place += 1
        place += place < len(names) and PROFILING in names[place]
    elif tag == tags.names["FP_START"]:
        place += 1
    elif tag in before:
        place -= 1
    elif tags.kind(tag) == "reduction":
        place += 1 if tags.is_begin(tag) else -1
    # Parsers take the last operator for the one before the first.
    return names[place] if place < len(names) else ""
