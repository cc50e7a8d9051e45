"""Steps as MindSpore's analysis has them, computed again from its timeline."""

from __future__ import annotations

from ascend_ref.capture.batch import Integers
from ascend_ref.derive.adapter_steps import StepRow
from ascend_ref.derive.mindspore_steps import (
    ONE_STEP,
    Overlaps,
    Step,
    step_at,
    step_figures,
    steps_in,
)
from ascend_ref.derive.steps import Spans

from ..database import Facts
from .reading import NONE, integers, read, texts

NS_PER_US = 1e3
NO_DEVICE = -1
KINDS = ("computing", "communication", "not-overlapped", "free")
CALLS = ("step", "launch", "call", "stage", "python-function")
"""Kinds of events of the framework that have a length."""


def of_mindspore(facts: Facts) -> bool:
    """Whether MindSpore wrote the folder."""
    return bool(facts.value("SELECT output = 'mindspore' FROM unit.about"))


def mindspore_steps(facts: Facts) -> list[Step]:
    """The steps of the timeline; none where the program marked none."""
    if not facts.columns("layer.mindspore"):
        return []
    found = read(
        facts,
        "SELECT name, ts AS start, end_ns AS stop FROM layer.mindspore WHERE kind = 'step' "
        "AND ts IS NOT NULL AND end_ns IS NOT NULL ORDER BY ts, row",
    )
    return steps_in(texts(found, "name"), Spans(integers(found, "start"), integers(found, "stop")))


def step_names(facts: Facts, start: Integers) -> list[str]:
    """The steps of operators as the documents call them; one step takes all, and of several none
    takes what is outside, which stands in no document.
    """
    steps = mindspore_steps(facts)
    if len(steps) <= 1:
        return [f"step{steps[0].name if steps else ONE_STEP}"] * len(start)
    return [
        "" if one == NONE else f"step{steps[one].name}" for one in step_at(steps, start).tolist()
    ]


def figures_of_steps(facts: Facts) -> list[StepRow]:
    """The rows of step_trace_time, of whatever device; us."""
    overlaps = Overlaps(*(_spans(facts, kind) for kind in KINDS))
    first = None
    if facts.columns("layer.mindspore"):
        listed = ", ".join(f"'{one}'" for one in CALLS)
        first = facts.value(f"SELECT min(ts) FROM layer.mindspore WHERE kind IN ({listed})")
    rows = step_figures(mindspore_steps(facts), overlaps, first)
    return [
        StepRow(NO_DEVICE, int(row.step), *(figure / NS_PER_US for figure in row[1:]))
        for row in rows
        if row.step.isdecimal()
    ]


def _spans(facts: Facts, kind: str) -> Spans:
    found = read(
        facts,
        "SELECT ts AS start, end_ns AS stop FROM layer.overlap_analysis "
        f"WHERE kind = '{kind}' AND ts IS NOT NULL AND end_ns IS NOT NULL ORDER BY ts, row",
    )
    return Spans(integers(found, "start"), integers(found, "stop"))
