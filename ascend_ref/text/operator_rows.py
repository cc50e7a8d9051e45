"""The rows of op_summary and kernel_details: compute tasks and communication, in order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import integers
from ascend_ref.capture.batch import Integers
from ascend_ref.recorded import Recorded
from ascend_spec import per_spec, text_catalog

from .columns import device_texts
from .kernels import Kernels, kernels, operator_devices, shown_kernels
from .order import row_order
from .setting import COPIES, Setting

START = "Task Start Time(us)"


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
    runs = shown_kernels(kernels(recorded), recorded.origin.start)
    table = recorded.table("COMMUNICATION_OP")
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
