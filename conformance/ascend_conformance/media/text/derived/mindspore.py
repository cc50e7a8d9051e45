"""Steps as MindSpore's analysis has them, computed again from its timeline."""

from __future__ import annotations

from ascend_ref.capture.batch import Integers
from ascend_ref.derive.adapter_steps import StepRow
from ascend_ref.derive.mindspore_steps import (
    COPIER,
    ONE_STEP,
    Overlaps,
    Step,
    step_at,
    step_figures,
    steps_in,
    whole_figures,
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


def _by_copier(facts: Facts) -> bool:
    """Whether it was MindSpore 2.3 or 2.4, which know no steps."""
    return bool(facts.value(f"SELECT count(*) FROM unit.file WHERE writer = '{COPIER}'"))


def mindspore_steps(facts: Facts) -> list[Step]:
    """The steps of the timeline; none where the program marked none, or for a copier."""
    if _by_copier(facts) or not facts.columns("layer.mindspore"):
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
    if _by_copier(facts):
        return ["step"] * len(start)
    steps = mindspore_steps(facts)
    if len(steps) <= 1:
        return [f"step{steps[0].name if steps else ONE_STEP}"] * len(start)
    return [
        "" if one == NONE else f"step{steps[one].name}" for one in step_at(steps, start).tolist()
    ]


def figures_of_steps(facts: Facts) -> list[StepRow]:
    """The rows of step_trace_time, of whatever device; us."""
    overlaps = Overlaps(*(_spans(facts, kind) for kind in KINDS))
    if _by_copier(facts):
        return _figures_of_copier(facts, overlaps)
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


def _figures_of_copier(facts: Facts, overlaps: Overlaps) -> list[StepRow]:
    """The only row; stage and bubble follow from no file that is left (erratum M60), and are taken
    as they are.
    """
    whole = whole_figures(overlaps, 0, 0, 0)
    stated = facts.rows('SELECT "Stage", "Bubble" FROM csv.step_trace_time')
    stage, bubble = (one or 0.0 for one in (stated[0] if stated else (0.0, 0.0)))
    figures = {name: value / NS_PER_US for name, value in whole._asdict().items() if name != "step"}
    alone = figures["communication_not_overlapped"]
    figures |= {
        "stage": float(stage),
        "bubble": float(bubble),
        "communication_not_overlapped_and_exclude_receive": alone - float(bubble),
    }
    return [StepRow(NO_DEVICE, None, *figures.values())]


def _spans(facts: Facts, kind: str) -> Spans:
    found = read(
        facts,
        "SELECT ts AS start, end_ns AS stop FROM layer.overlap_analysis "
        f"WHERE kind = '{kind}' AND ts IS NOT NULL AND end_ns IS NOT NULL ORDER BY ts, row",
    )
    return Spans(integers(found, "start"), integers(found, "stop"))
