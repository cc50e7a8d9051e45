"""What tags of points mean on a day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ascend_spec import mindspore_catalog
from ascend_spec.core import DAYS

from .steps import PointKind


@dataclass(frozen=True, slots=True)
class Tags:
    """``names``: tags by the name of their meaning. ``end``: that of the end of an iteration."""

    names: dict[str, int]
    end: int

    @property
    def first_reduction(self) -> int:
        """The first tag of a begin of a reduction; the others are odd or even as this one is."""
        return self.names.get("FIRST_REDUCTION", self.names["BP_END"] + 1)

    def kind(self, tag: int) -> PointKind | None:
        """What a step has of a point; ``None`` for nothing."""
        if tag == self.end:
            return "end"
        if tag == self.names["FP_START"]:
            return "fp"
        if tag == self.names["BP_END"]:
            return "bp"
        if "FIRST_REDUCTION" in self.names:
            is_reduction = self.first_reduction <= tag <= self.names["LAST_REDUCTION"]
            return "reduction" if is_reduction else None
        return "start" if tag == self.names["STEP_START"] or tag > self.end else "reduction"

    def is_begin(self, tag: int) -> bool:
        """Whether the tag of a point of a reduction is that of a begin."""
        return tag % 2 == self.first_reduction % 2

    def early_names(self, names: Mapping[int, str]) -> dict[int, str]:
        """Names of operators by tags, of which those from the early end on are named by it."""
        end = self.names["ITERATION_END"]
        early = {tag: "end" if tag == end else "start" for tag in names if tag >= end}
        return {**names, **early}

    def of_points(self, tags: Iterable[int]) -> Tags:
        """The same by the points of the first slice, of which the first step shows its end."""
        late = self.names.get("LATE_ITERATION_END")
        starts = 0
        for tag in tags:
            starts += tag == self.names["FP_START"]
            if tag == late:
                return Tags(self.names, late)
            if starts == 2:
                break
        return self


def tags_of(kind: str, day: str) -> Tags:
    """The tags of a kind of raw file, by the vocabulary of its records, before any is read."""
    members = mindspore_catalog().vocabularies[f"{kind}_tags"].members
    names = {str(one.name): int(one.value) for one in members if DAYS.in_force(one, day)}
    return Tags(names, names["ITERATION_END"])
