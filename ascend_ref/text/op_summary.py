"""op_summary, and what kernel_details copies of it (text-outputs.md 3.2): rows and columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import dictionary, first_known, integers, renamed, same
from ascend_ref.capture.batch import Integers
from ascend_ref.derive.matching import NONE
from ascend_ref.derive.statistics import wait_times
from ascend_ref.recorded import Recorded
from ascend_ref.recorded.shown import NO_ROW, TableRows
from ascend_spec import per_spec, text_catalog

from .cells import cells_of
from .columns import Columns, ShownColumns, device_texts, parts, shown_table
from .kernels import (
    DESCRIPTIONS,
    RUNS,
    UNKNOWN,
    Kernels,
    kernels,
    no_model,
    operator_devices,
    operator_models,
    shown_kernels,
)
from .order import row_order
from .pmu import PmuColumns
from .setting import COPIES, Setting
from .statistics import level_names

OP_STATES = {"0": "static", "1": "dynamic"}
"""OP State by COMPUTE_TASK_INFO.opState."""
CHANGED = {
    "OP State": "opState",
    "Input Shapes": "inputShapes",
    "Output Shapes": "outputShapes",
}
"""Columns whose texts differ from those of COMPUTE_TASK_INFO, and where it has them."""
SHAPES = ("Input Shapes", "Output Shapes")
QUOTE = '"'
START = "Task Start Time(us)"


def op_summary(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """Every operator that ran in the session, batch by batch."""
    columns = OperatorColumns(recorded, setting, operator_rows(recorded, setting))
    yield from (found for _, found in columns.batches())


class OperatorColumns:
    """The columns of rows, by the names that their file has for them."""

    def __init__(self, recorded: Recorded, setting: Setting, rows: OperatorRows) -> None:
        runs, communication = rows.runs, rows.communication
        self._rows = rows
        self._names = copied_names(setting.file.name)
        self._wait = _wait_texts(setting, self._names["Task Wait Time(us)"], rows)
        kind = level_names(setting.writer.date)["communication"].upper()
        self._core = dictionary(runs.details["taskType"])
        self._of_communication = same(kind, len(communication))
        self._texts = {
            name: _detail(setting, name, runs.details[column]) for name, column in CHANGED.items()
        }
        self._counters = PmuColumns(recorded, setting, runs)
        self._models = operator_models(recorded, communication)

    def batches(self) -> Iterator[tuple[Integers, ShownColumns]]:
        """Places of rows and their columns."""
        for batch in parts(np.arange(len(self._rows))):
            yield batch, self._of(batch)

    def _of(self, batch: Integers) -> ShownColumns:
        rows, runs = self._rows, self._rows.runs
        row = rows.row[batch]
        computes = row < len(runs)
        task, detail = (
            np.where(computes, np.append(own, NO_ROW)[np.where(computes, row, NO_ROW)], NO_ROW)
            for own in (runs.task, runs.detail)
        )
        operator = np.where(computes, NO_ROW, row - len(runs))
        columns: dict[str, pa.Array] = {
            "Device_id": device_texts(rows.device[batch]),
            "Task Wait Time(us)": self._wait.slice(batch[0], len(batch)),
            "Task Type": first_known(
                [_at(self._core, detail), _at(self._of_communication, operator)]
            ),
        }
        for name, texts in self._texts.items():
            columns[name] = _at(texts, detail)
        models = integers(runs.tasks["modelId"], none=no_model())
        columns["Model ID"] = pa.array(
            np.where(
                computes, np.append(models, NONE)[task], np.append(self._models, NONE)[operator]
            )
        )
        duration = rows.end[batch] - rows.start[batch]
        columns |= self._counters.of(np.where(computes, row, NONE), duration)
        shown = {
            "TASK": TableRows(runs.tasks, task),
            "COMPUTE_TASK_INFO": TableRows(runs.details, detail),
            "COMMUNICATION_OP": TableRows(rows.communication, operator),
        }
        named = {self._names.get(name, name): column for name, column in columns.items()}
        return ShownColumns(named, shown)


def _at(texts: pa.DictionaryArray, rows: Integers) -> pa.DictionaryArray:
    """The texts of rows; NULL for NO_ROW."""
    return texts.take(pa.array(rows, mask=rows == NO_ROW))


def _detail(setting: Setting, name: str, texts: pa.ChunkedArray) -> pa.DictionaryArray:
    if name == "OP State":
        return renamed(texts, OP_STATES)
    if name not in SHAPES:
        return dictionary(texts)
    # Shapes have quotes of their own. The C++ engine does not quote cells, so whoever reads its
    # file, as the adapter does, gets the shapes without (text-outputs.md 2.4).
    keeps = setting.writer.output == "msprof" or setting.engine == "python"
    shapes: list[str] = dictionary(texts).dictionary.to_pylist()
    return renamed(texts, {shape: _quoted_shape(shape, keeps) for shape in shapes})


def _quoted_shape(shape: str, keeps: bool) -> str:
    bare = shape.removeprefix(QUOTE).removesuffix(QUOTE)
    return f"{QUOTE}{bare}{QUOTE}" if keeps and bare != UNKNOWN else bare


def _wait_texts(setting: Setting, name: str, rows: OperatorRows) -> pa.StringArray:
    """Wait times; the first row has the integer 0, whatever the form of the others.

    The Python engine begins anew with each device (erratum T35).
    """
    first = np.zeros(len(rows), np.bool_)
    first[:1] = True
    if setting.engine == "python":
        first[1:] = rows.device[1:] != rows.device[:-1]
    wait = wait_times(rows.start, rows.end - rows.start, setting.engine)
    return pc.if_else(pa.array(first), "0", cells_of(setting, name, pa.array(wait)))


@dataclass(frozen=True, slots=True)
class OperatorRows:
    """Rows that ended in the session, in the order of their writer.

    row: number of a run, or of a row of COMMUNICATION_OP counted on from there. device, start and
    end (ns) follow the same order.
    """

    runs: Kernels
    communication: pa.Table
    row: Integers
    device: Integers
    start: Integers
    end: Integers

    def __len__(self) -> int:
        return len(self.row)


def operator_rows(recorded: Recorded, setting: Setting) -> OperatorRows:
    """The rows of a recording."""
    tasks = shown_table(recorded, setting, "TASK", *RUNS, "modelId")
    described = (*DESCRIPTIONS, *CHANGED.values())
    details = shown_table(recorded, setting, "COMPUTE_TASK_INFO", *described)
    runs = shown_kernels(kernels(tasks, details), recorded.origin.start)
    timed = ("opId", "startNs", "endNs", "deviceId")
    table = shown_table(recorded, setting, "COMMUNICATION_OP", *timed)
    started, ended = integers(table["startNs"]), integers(table["endNs"])
    kept = np.flatnonzero(ended >= recorded.origin.start)
    row = np.concatenate([np.arange(len(runs)), len(runs) + kept])
    device = np.concatenate([runs.device, operator_devices(recorded, table)[kept]])
    start = np.concatenate([runs.start, started[kept]])
    end = np.concatenate([runs.end, ended[kept]])
    keys = {
        "Device_id": device_texts(device),
        copied_names(setting.file.name).get(START, START): pa.array(start),
    }
    order = row_order(setting, keys)
    return OperatorRows(runs, table, row[order], device[order], start[order], end[order])


@per_spec
def copied_names(file: str) -> dict[str, str]:
    """The names that columns of op_summary have in a file that copies it, by those they have there:
    the same, or that of the column that shows the same.
    """
    csv = text_catalog().csv
    copies = csv[file].own_columns
    names = {one.name for one in copies}
    showing = {(one.shows, one.formula): one.name for one in reversed(copies)}
    return {
        one.name: one.name if one.name in names else showing.get((one.shows, one.formula), one.name)
        for one in csv[COPIES.get(file, file)].own_columns
        if not one.when.writers
    }
