"""What only the page of such a rule says: where it looks, how bad rows are found and made."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_ref.markdown import Style, code
from ascend_spec import mindspore_catalog

from .facts import KINDS
from .rules import FileRule

OF: dict[str, tuple[str, ...]] = {
    "hwts": ("hwts",),
    "hwts_task": ("hwts",),
    "point": ("training_trace", "ts_track"),
    "raw_step": ("training_trace", "ts_track"),
    "raw_reduction": ("training_trace", "ts_track"),
    "operator": ("task_desc_info", "task_desc_records"),
    "graph_operator": ("graph_desc_info",),
    "tensor": ("graph_desc_info", "tensor_data_records"),
    "tensor_record": ("tensor_data_records",),
    "framework_point": ("point", "step_records"),
    "long_text": ("hash_dic",),
    "kernel": ("aicpu",),
    "fetch": ("minddata_aicpu", "gpu_getnext"),
    "queue_sample": ("device_queue", "dataset_iterator"),
    "pipeline_operator": ("minddata_pipeline",),
    "gpu_step": ("gpu_step_trace",),
    "gpu_time": ("gpu_step_trace",),
    "reduction": ("step_trace_raw",),
}
"""Tables of facts by the files whose rows they hold; others are called like theirs."""


def files_of(rule: FileRule) -> tuple[str, ...]:
    """The kinds of files that a rule is about; none where it is about all."""
    table = rule.search.table
    return () if table in (*KINDS, "file") else OF.get(table, (table,))


def where(rule: FileRule, style: Style) -> str:
    """The files, and the table of facts."""
    links = [style.link(_folder(one), one) for one in files_of(rule)]
    place = ".".join(filter(None, (rule.search.table, rule.column)))
    return f"{', '.join(links) or 'every file'}: facts {code(place)}"


def about(rule: FileRule) -> Iterator[tuple[str, str]]:
    """Addresses of the files."""
    for one in files_of(rule):
        yield f"{_folder(one)}/{one}", rule.expected


def _folder(name: str) -> str:
    return "mindspore" if name in mindspore_catalog().files else "intermediate"
