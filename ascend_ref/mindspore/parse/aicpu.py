"""``output_data_preprocess_aicpu`` and ``aicpu_intermediate``: kernels of the AI CPUs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ascend_ref.raw.damage import Damage, Damaged, few
from ascend_ref.raw.series import Slice
from ascend_spec.mindspore import ALONE_FROM, TASK_NUMBERS, TICKS

from ..raw.records import layout_of, read_records
from ..raw.strings import String, read_strings
from .drawn import drawn
from .framework import framework_of
from .operator import key_of, last_part
from .run import Run
from .tables import write_rows

KIND = "aicpu"
TABLE = "output_data_preprocess_aicpu"
INTERMEDIATE = "aicpu_intermediate"

MAGIC = b"\x5a\x5a"
"""What records begin with, by which parsers know them."""

PER_MS = 1000

MOST = 1 << 63
"""No time is as great as this."""

LONGEST_THREAD = ","
"""What a thread has behind its total where it has more than seven parts."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel with its times: ``total``, ``dispatch``, ``start`` and ``end`` in us, ``ticks`` its
    start and end by the counter, where they are known.
    """

    name: str
    total: int
    dispatch: int
    start: int
    end: int
    ticks: tuple[int, int] | None = None


def write_aicpu(run: Run) -> None:
    """Write both files, where there is a kernel."""
    slices = run.slices(KIND)
    if slices is None:
        return
    if not is_records(slices):
        kernels = _of_text(run, slices)
    elif run.holds_records(KIND):
        framework = framework_of(run)
        names = {} if framework is None else framework.names
        kernels = _of_records(run, slices, names)
    else:
        text = f"records, which parsers of {run.day} do not read"
        run.damage.append(Damage(slices[0].path, text))
        return
    lines = lines_of(run, kernels)
    path = run.path(TABLE) if lines else None
    if path is None:
        return
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    intermediate = run.path(INTERMEDIATE)
    if intermediate is not None:
        header = [one.name for one in run.columns(INTERMEDIATE)]
        write_rows(run, intermediate, [header, *_copied(run, lines)])


def is_records(slices: Sequence[Slice]) -> bool:
    """Whether a file begins as one of records does. Raises ``OSError``."""
    with slices[0].path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def kernels_of_text(
    strings: Iterable[String], kernels: str, threads: str, is_counted: bool, damage: Damaged
) -> Iterator[Kernel]:
    """The kernels that a thread directly follows.

    ``kernels`` and ``threads``: the ways of aicpu_kernels and aicpu_threads; ``is_counted``:
    whether only those with times of the counter are read.
    """
    kernel: String | None = None
    for one in strings:
        if one.line == "thread" and kernel is not None:
            yield from _kernel(kernel, one, kernels, threads, is_counted, damage)
        elif kernel is not None:
            damage.append(kernel.damaged("a kernel that no thread follows"))
        kernel = one if one.line not in (None, "thread") else None
    if kernel is not None:
        damage.append(kernel.damaged("a kernel that no thread follows"))


def lines_of(run: Run, kernels: Iterable[Kernel]) -> list[str]:
    """The lines of the file; none without a kernel."""
    columns = [one.name for one in run.columns(TABLE)]
    rows: list[list[str | int | float]] = []
    sums: dict[str, int | float] = {}
    label = run.form(TABLE, "total")
    for number, one in enumerate(kernels, 1):
        cells = _cells(number, one)
        if one.ticks is not None and "execution_time(ms)" in columns:
            start, end = one.ticks
            cells |= {"run_start": start / TICKS, "run_end": end / TICKS}
        rows.append([cells[name] for name in columns])
        for name, value in _totals(one).items():
            sums[name] = sums.get(name, 0) + value
    if not rows:
        return []
    title, _, total = label.format_map(_Formatted(sums)).rpartition(" ")
    if run.way("tables_for_reading") == "drawn":
        return drawn(columns, [*rows, [title, total]])
    texts = (" ".join(map(str, row)) for row in rows)
    return [" ".join(columns), *texts, f"{title} {total}"]


class _Formatted(dict[str, str]):
    """Sums as the last line has them: whole numbers, or with 6 decimals."""

    def __init__(self, sums: Mapping[str, int | float]) -> None:
        super().__init__(
            {
                name: f"{value:.6f}" if isinstance(value, float) else str(value)
                for name, value in sums.items()
            }
        )


def _cells(number: int, one: Kernel) -> dict[str, str | int | float]:
    return {
        "serial_number": number,
        "node_type_name": one.name,
        **_totals(one),
        "dispatch_time(us)": one.dispatch,
        "dispatch_time(ms)": one.dispatch / PER_MS,
        "execution_time(ms)": (float(one.end) - float(one.start)) / PER_MS,
        "run_start": one.start,
        "run_end": one.end,
    }


def _totals(one: Kernel) -> dict[str, int | float]:
    return {"total_time(us)": one.total, "total_time(ms)": one.total / PER_MS}


def _copied(run: Run, lines: Sequence[str]) -> Iterator[list[str]]:
    """What parsers read of the lines: the values of rows, without the sum."""
    is_drawn = run.way("tables_for_reading") == "drawn"
    first = 1 + is_drawn + (run.way("aicpu_rows") == "without-first")
    for line in lines[first:-1]:
        yield line.split()


def _of_text(run: Run, slices: Sequence[Slice]) -> Iterator[Kernel]:
    if run.way("aicpu_text") == "refused":
        text = f"text, which parsers of {run.day} do not read"
        run.damage.append(Damage(slices[0].path, text))
        return
    is_counted = any(one.name == "execution_time(ms)" for one in run.columns(TABLE))
    with few(run.damage) as stated:
        yield from kernels_of_text(
            read_strings(slices, KIND, run.damage),
            run.way("aicpu_kernels"),
            run.way("aicpu_threads"),
            is_counted,
            stated,
        )


def _kernel(
    kernel: String, thread: String, kernels: str, threads: str, is_counted: bool, damage: Damaged
) -> Iterator[Kernel]:
    """The kernel, unless parsers cannot take it."""
    if threads == "seven-parts" and LONGEST_THREAD in thread.parts["rest"]:
        damage.append(thread.damaged("a thread of more than seven parts"))
        return
    parts = {name: int(text) for name, text in kernel.parts.items() if text.isdecimal()}
    parts |= {name: int(thread.parts[name]) for name in ("dispatch_time", "total_time")}
    for name, value in parts.items():
        if value >= MOST:
            damage.append(kernel.damaged(f"{name} is {value}, 2^63 or more"))
            return
    ticks = None
    if "run_start_counter" in parts:
        ticks = parts["run_start_counter"], parts["run_end_counter"]
    elif is_counted:
        damage.append(kernel.damaged("a kernel without times of the counter"))
        return
    name = kernel.parts["name"].rpartition(":")[2]
    end = parts["run_end"]
    if "compute_start" in parts and kernels == "third":
        end = parts["compute_start"]
    elif "compute_start" in parts:
        name = last_part(name).split("-")[0]
    total, dispatch = parts["total_time"], parts["dispatch_time"]
    yield Kernel(name, total, dispatch, parts["run_start"], end, ticks)


def _of_records(run: Run, slices: Sequence[Slice], names: Mapping[str, str]) -> Iterator[Kernel]:
    layout = layout_of(KIND, run.day)
    most = ALONE_FROM if run.way("aicpu_tasks") == "below-25000" else TASK_NUMBERS
    with few(run.damage) as stated:
        for block in read_records(slices, KIND, run.day, run.damage):
            rows = layout.view(0, block.rows)
            columns = ("run_start", "run_end", "run_start_counter", "run_end_counter")
            great = np.logical_or.reduce([rows[name] >= MOST for name in columns])
            for place in np.flatnonzero(great).tolist():
                offset = max(block.offset + place * layout.size, 0)
                stated.append(Damage(block.path, "a time of 2^63 or more", offset))
            rows = rows[~great & (rows["taskId"] < most)]
            fields = ("streamId", "taskId", "total_time", "dispatch_time", *columns)
            values = (rows[name].tolist() for name in fields)
            for stream, task, total, dispatch, start, end, *ticks in zip(*values, strict=True):
                key = key_of("stream-task", stream, task)
                name = last_part(names.get(key, key))
                yield Kernel(name, total, dispatch, start, end, (ticks[0], ticks[1]))
