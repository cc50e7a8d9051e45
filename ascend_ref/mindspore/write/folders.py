"""The data pipeline in a folder ``*_ascend_ms``: what the dataset engine leaves in FRAMEWORK, and
what MindSpore's analysis makes of it (mindspore-present.md 2.9).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ascend_ref.raw.lines import encode_lines
from ascend_ref.raw.tree import FRAMEWORK
from ascend_spec import layout_catalog, mindspore_catalog

from ..folder import find_captures
from ..parse.pipeline import write_pipeline
from ..parse.run import Run
from .minddata import CPUS, PIPELINE, QUEUE, DataPipeline, pipeline_documents, queue_lines

SUMMARY = "minddata_pipeline_summary"
UNKNOWN = -1
TYPE_END = 2
"""Characters that the names of operators lack of their types."""


def write_pipeline_of_folder(profile: Path, rank: int, day: str, pipeline: DataPipeline) -> None:
    """Write both into a profile that has the folders. Raises ``OSError``."""
    raw, output = profile / FRAMEWORK, profile / layout_catalog().folder("mindspore", "output")
    files = mindspore_catalog().files
    for kind, document in pipeline_documents(pipeline).items():
        (raw / files[kind].names[-1].form.of(device=rank)).write_bytes(document)
    lines = encode_lines(queue_lines(pipeline, day), mindspore_catalog().grammars["queue"])
    (raw / files[QUEUE].names[-1].form.of(device=rank)).write_bytes(lines)
    for capture in find_captures(raw):
        if PIPELINE in capture.files and capture.device == str(rank):
            write_pipeline(Run(capture, day, output))
    summary = summary_of(pipeline)
    place = output / mindspore_catalog().tables[SUMMARY].names[-1].form.of(device=rank)
    place.write_text(json.dumps(summary, ensure_ascii=False), encoding="utf-8")
    rows = "".join(f"{_row([key, *values])}\r\n" for key, values in summary.items())
    place.with_suffix(".csv").write_text(rows, encoding="utf-8", newline="")


def summary_of(pipeline: DataPipeline) -> dict[str, list[Any]]:
    """The averages, by the keys of the spec; what sentences say of them is left out."""
    operators = sorted(pipeline.operators, key=lambda one: one.number)
    names = [one.op_type[:-TYPE_END] for one in operators]
    numbers = [one.number for one in operators]
    queues = [_queue(one.sizes, one.length) for one in operators]
    parents = {child: one.number for one in operators for child in one.children}
    busy = json.loads(pipeline_documents(pipeline)[CPUS])["op_info"]
    used = [_share(one["metrics"]) for one in busy]
    workers = [one.workers for one in operators]
    later = pipeline.queue[1:]
    times: Mapping[str, Sequence[int]] = {
        "per_pipeline_time": [one.get for one in later],
        "per_push_queue_time": [one.push for one in later],
        "per_batch_time": [one.get + one.push for one in later],
    }
    return {
        "op_ids": list(numbers),
        "op_names": names,
        "pipeline_ops": [f"{name}(id={n})" for name, n in zip(names, numbers, strict=True)],
        "num_workers": workers,
        "queue_average_size": [one[0] for one in queues],
        "queue_utilization_pct": [one[1] for one in queues],
        "queue_empty_freq_pct": [one[2] for one in queues],
        "children_ids": [list(one.children) for one in operators],
        "parent_id": [parents.get(number, UNKNOWN) for number in numbers],
        "avg_cpu_pct": used,
        **{
            key: [round(sum(values) / len(values), 3) if values else UNKNOWN]
            for key, values in times.items()
        },
        "avg_cpu_pct_per_worker": [
            round(share / count, 2) if count else UNKNOWN
            for share, count in zip(used, workers, strict=True)
        ],
    }


def _queue(sizes: Sequence[int], length: int) -> tuple[float, float, float]:
    if not sizes:
        return UNKNOWN, UNKNOWN, UNKNOWN
    mean = round(sum(sizes) / len(sizes), 2)
    empty = round(100 * sizes.count(0) / len(sizes), 2)
    return mean, round(100 * mean / length, 2) if length else UNKNOWN, empty


def _share(metrics: Mapping[str, Sequence[int]]) -> float:
    both = zip(metrics["sys_utilization"], metrics["user_utilization"], strict=True)
    used = [one + other for one, other in both]
    return round(sum(used) / len(used), 2) if used else 0


def _row(cells: Sequence[Any]) -> str:
    texts = (str(one) for one in cells)
    return ",".join(f'"{one}"' if "," in one else one for one in texts)
