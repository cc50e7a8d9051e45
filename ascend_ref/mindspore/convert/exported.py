"""What msprof exported of a device, where raw files are gone. Times are Unix ns."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.capture.model import NONE
from ascend_ref.raw.damage import Damage
from ascend_ref.raw.moments import MICROSECOND
from ascend_ref.text.kernels import COMMUNICATION_TYPES

from ..parse.exported import MEASURES, OPERATORS, WHOLE, Export, exported_operators, read_export
from ..parse.exported_operators import AI_CPU, TENSORS, tensors_of
from ..parse.exported_steps import NO_MODEL, exported_iterations
from ..parse.run import Run
from ..sheet import Flags
from .clock import MILLISECOND
from .found import CpuRun, Iteration, Operator, Runs, Tensor
from .operators import present, whole

_MOST = 1 << 61
"""No time of a capture is as great."""


def operators_and_runs(run: Run) -> tuple[list[Operator], Runs, list[CpuRun], list[str]]:
    """Operators, their runs, those on AI CPUs, and sentences on what is left out."""
    export = read_export(run, OPERATORS, MEASURES, WHOLE)
    if export is None:
        return [], Runs(), [], []
    start = _unix(run, export)
    length = np.rint(export.numbers["duration"] * MICROSECOND).astype(np.int64)
    wait = np.rint(export.numbers["wait"] * MICROSECOND).astype(np.int64)
    cores, names = (export.texts[one].to_pylist() for one in ("core", "name"))
    known = start != NONE
    on_cpu = np.array([one == AI_CPU for one in cores], np.bool_) & known
    elsewhere = np.array([one in COMMUNICATION_TYPES for one in cores], np.bool_)
    operators, numbers = _operators(export, names, cores, ~elsewhere)
    rows = np.flatnonzero(known & ~on_cpu & ~elsewhere)
    rows = rows[np.argsort(start[rows], kind="stable")]
    stream, task = export.numbers["stream"], export.numbers["task"]
    own = np.array([numbers[names[row]] for row in rows.tolist()], np.int64)
    runs = Runs(start[rows], start[rows] + length[rows], stream[rows], task[rows], own)
    cpu_runs = [
        CpuRun(
            *(names[row], int(start[row]), int(start[row] + length[row])),
            *(int(stream[row]), int(task[row])),
            dispatch=int(wait[row]),
            total=int(wait[row] + length[row]),
        )
        for row in np.flatnonzero(on_cpu).tolist()
    ]
    count = int(np.sum(elsewhere))
    lost = [f"{OPERATORS}: {count:,} rows of communication, whose parts it does not have"]
    return operators, runs, cpu_runs, lost if count else []


def iterations_exported(run: Run) -> list[Iteration]:
    """The iterations of graphs; times are as exact as doubles of ms are."""
    found = exported_iterations(run)
    if found is None or exported_operators(run) is None:
        return []
    names = ("end", "length", "fp", "bp")
    ns = {one: np.rint(found.times[one] * MILLISECOND).astype(np.int64) for one in names}
    made = []
    for row in np.flatnonzero(found.model != NO_MODEL).tolist():
        end, length, fp, bp = (int(ns[one][row]) for one in names)
        points = [end - length, *(one for one in (fp, bp) if one), end]
        if points == sorted(points) and points[0] > 0 and end < _MOST:
            made.append(Iteration(int(found.step[row]), points[0], fp or NONE, bp or NONE, end))
    return made


def _unix(run: Run, export: Export) -> Integers:
    """Starts, NONE of those that are no time, which is stated as damage."""
    found = [_ns(text) for text in export.texts["start"].to_pylist()]
    wrong = found.count(NONE)
    slices = run.slices(OPERATORS)
    if wrong and slices is not None:
        text = f"{wrong:,} rows have a start that is no time"
        run.damage.append(Damage(slices[0].path, text, kind=OPERATORS))
    return np.array(found, np.int64)


def _ns(text: str) -> int:
    try:
        ns = int(Decimal(text.strip()) * MICROSECOND)
    except (InvalidOperation, ValueError, OverflowError):
        return NONE
    return ns if 0 <= ns < _MOST else NONE


def _operators(
    export: Export, names: Sequence[str], cores: Sequence[str], wanted: Flags
) -> tuple[list[Operator], dict[str, int]]:
    """The operators by their first rows, and the number of each."""
    texts = export.texts
    found: list[Operator] = []
    numbers: dict[str, int] = {}
    for row in np.flatnonzero(wanted).tolist():
        if names[row] in numbers:
            continue
        numbers[names[row]] = len(found)
        sides = [
            [
                Tensor(
                    present(one["format"], "tensor_formats"),
                    present(one["data_type"], "tensor_data_types"),
                    one["shape"],
                )
                for one in tensors_of(*(texts[f"{side}_{part}"][row].as_py() for part in TENSORS))
            ]
            for side in ("input", "output")
        ]
        kind = export.texts["op_type"][row].as_py()
        model = int(export.numbers["model"][row])
        model = NONE if model == NO_MODEL else model
        blocks = texts["blocks"][row].as_py() if "blocks" in texts else ""
        found.append(Operator(names[row], kind, cores[row], whole(blocks, 0), model, *sides))
    return found, numbers
