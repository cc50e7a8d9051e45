"""Records of small runs as plain rows, and what they are compared with."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from ascend_ref.capture import RECORDS, Capture, Switches
from ascend_ref.capture.model import NONE
from ascend_ref.db.encode import encode
from ascend_simulator import simulate
from ascend_simulator.choices import ProductName, Scenario
from ascend_simulator.scenario import parse
from ascend_spec import catalog

Row = dict[str, Any]

EVERYTHING = Switches(
    level=2,
    memory=True,
    l2=True,
    sys_hardware_mem=50,
    sys_interconnection=20,
    host_sys=("cpu", "mem", "disk", "network", "osrt"),
    aicpu=True,
    soc_pmu=True,
    sys_profiling=10,
    sys_pid=10,
    sys_cpu=50,
    dvpp=50,
    instr=30_000,
    host_sys_usage=("cpu", "mem"),
)
TRAINS = ("A2", "A3", "910A", "950")


@cache
def scenario(product: ProductName, graph: bool = True, preprocess: str = "device") -> Scenario:
    """Two steps of a small network, on two devices where they are made for training."""
    return parse(
        f"""
hardware: {{product: "{product}"}}
model:
  kind: cnn
  batch: 3
  image: 64
  channels: 16
  graph: {str(graph).lower()}
  preprocess: {preprocess}
parallelism: {{ranks: {2 if product in TRAINS else 1}}}
"""
    )


def captured(chosen: Scenario, switches: Switches = EVERYTHING, seed: int = 3) -> Capture:
    """What rank 0 records."""
    return simulate(replace(chosen, capture=switches), seed).capture(0)


@cache
def everything(product: ProductName) -> Capture:
    """The small run of a product with every switch on."""
    return captured(scenario(product))


def rows(capture: Capture, record: str) -> list[Row]:
    """Rows of a record with their texts; none where it is not there. NONE becomes None."""
    columns = capture.records.get(record)
    if columns is None:
        return []
    texts, kinds = capture.texts.all, RECORDS[record].columns
    return [
        {
            name: None
            if value == NONE and kinds[name] != "device"
            else texts[value]
            if kinds[name] == "text"
            else value
            for name, value in zip(columns, values, strict=True)
        }
        for values in zip(*(column.tolist() for column in columns.values()), strict=True)
    ]


def tasks(capture: Capture) -> dict[tuple[int, int, int], tuple[int, int]]:
    """Start and end of the tasks, sub-tasks aside, by device, stream and number."""
    found: dict[tuple[int, int, int], tuple[int, int]] = {}
    batch = capture.tasks
    for device, stream, number, start, end in zip(
        batch.device.tolist(),
        batch.stream.tolist(),
        batch.number.tolist(),
        batch.start.tolist(),
        batch.end.tolist(),
        strict=True,
    ):
        before = found.get((device, stream, number), (start, end))
        found[device, stream, number] = min(before[0], start), max(before[1], end)
    return found


def kernels(capture: Capture) -> list[Row]:
    """Every run of a kernel in order of start, with what COMPUTE_TASK_INFO tells of it."""
    batch, kinds, texts = capture.tasks, capture.kernel_kinds, capture.texts.all
    place = {identity: row for row, identity in enumerate(batch.identity.tolist())}
    found = []
    for task, kind in zip(
        capture.kernels.task.tolist(), capture.kernels.kind.tolist(), strict=True
    ):
        row = place[task]
        found.append(
            {
                "start": int(batch.start[row]),
                "end": int(batch.end[row]),
                "stream": int(batch.stream[row]),
                "number": int(batch.number[row]),
                "model": int(batch.model[row]),
                "blocks": int(kinds.blocks[kind]),
                **{
                    name: texts[int(getattr(kinds, name)[kind])]
                    for name in ("name", "op_type", "core", "input_shapes", "input_data_types")
                },
                **{
                    name: texts[int(getattr(kinds, name)[kind])]
                    for name in ("output_shapes", "output_data_types")
                },
            }
        )
    return sorted(found, key=lambda one: one["start"])


def table(capture: Capture, name: str) -> list[Row]:
    """Rows of a table of the framework's database at the newest revision."""
    columns = encode(capture, catalog().at(catalog().revisions[-1].id, "pytorch")).get(name, {})
    listed = [list(column.tolist()) for column in columns.values()]
    return [dict(zip(columns, values, strict=True)) for values in zip(*listed, strict=True)]
