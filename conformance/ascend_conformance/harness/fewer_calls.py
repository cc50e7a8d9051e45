"""The fewest host calls of a case that still show a failure, by delta debugging (ddmin)."""

from __future__ import annotations

from dataclasses import replace

from ascend_simulator.choices import LOSSES

from ..engine.fewest import fewest_of
from .attempts import Sought
from .case import Case
from .writing import count_of_calls

Calls = tuple[int, ...]


def with_fewest_calls(case: Case, sought: Sought) -> Case:
    """A case with only such of its outermost host calls, and what they launched, that one less
    does not show the failure; with more of them where that takes too many exports.

    A case whose faults lose data stays as it is: they are of the whole recording. So does a
    compiled graph that is needed: one call launches all of its operators.
    """
    if any(fault.kind in LOSSES for fault in case.scenario.faults):
        return case

    def shows(calls: Calls) -> bool:
        return sought.shows(replace(case, calls=calls))

    if shows(()):
        return replace(case, calls=())
    if case.scenario.model.graph:
        return case
    calls = case.calls or tuple(range(count_of_calls(case)))
    fewest = fewest_of(calls, shows)
    return replace(case, calls=fewest) if len(fewest) < len(calls) else case
