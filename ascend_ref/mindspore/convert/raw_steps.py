"""Steps and readings of data, of raw files."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_ref.capture.model import NONE
from ascend_ref.raw.moments import MICROSECOND

from ..parse.framework import framework_of
from ..parse.minddata import FETCHES, PARTS
from ..parse.operator import Framework
from ..parse.points import points_of
from ..parse.run import Run
from ..parse.step_trace import operators_at, pairing_of, steps_in
from ..parse.steps import FIRST
from ..raw.strings import read_strings
from .clock import EXACT, TICK
from .found import Fetch, Iteration

_LIMIT = 1 << 48
"""us that no counter of a device shows: nine years."""


def iterations_of(run: Run) -> tuple[list[Iteration], list[str]]:
    """Every step that ends, and sentences on those that are left out."""
    points = points_of(run)
    if points is None:
        return [], []
    framework = framework_of(run) or Framework({}, {}, ())
    reductions = pairing_of(run, points, operators_at(run, points, framework))
    found, number, partial = [], 0, 0
    for number, step in enumerate(steps_in(run, points), 1):
        start = NONE if step.start in (FIRST, None) else int(step.start or 0)
        end = step.end or 0
        known = [one for one in (start, step.fp, step.bp) if one not in (None, NONE)]
        if not known or known != sorted(known) or not known[-1] <= end < EXACT:
            partial += 1
            continue
        sums = tuple(
            (_ns(one.begin), _ns(one.end)) for one in reductions(step) if one.begin <= one.end
        )
        fp, bp = (NONE if one is None else one for one in (step.fp, step.bp))
        found.append(Iteration(number, _ns(start), _ns(fp), _ns(bp), _ns(end), sums))
    lost = [f"{points.kind}: {partial:,} steps have no start, or times that no step has"]
    return found, lost if partial else []


def _ns(tick: int) -> int:
    return tick if tick == NONE else tick * TICK


def fetches_of(run: Run) -> list[Fetch]:
    """Readings of prepared data in the order of the file."""
    slices = run.slices(FETCHES)
    if slices is None or not run.reads(FETCHES):
        return []
    return list(_fetches(run))


def _fetches(run: Run) -> Iterator[Fetch]:
    for one in read_strings(run.slices(FETCHES) or (), FETCHES, run.damage):
        if one.line is None:
            continue
        name, *texts = (one.parts[part] for part in PARTS)
        start, end, size = map(int, texts)
        if start <= end < _LIMIT and size < _LIMIT:
            yield Fetch(name, start * MICROSECOND, end * MICROSECOND, size)
        else:
            run.damage.append(one.damaged("times or a size that no reading has"))
