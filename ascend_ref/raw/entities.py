"""What a ``PROF_*`` shows of the recording once its records are joined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ascend_spec import per_spec, raw_catalog
from ascend_spec.raw.shown import raw_showers


class Joined(NamedTuple):
    """The rows of an entity that files of some kinds hold, and the table of a database for them.

    kinds: the one whose records the rows are comes first; of several such, all of them. columns:
    values that no field states and that readers join from records: a start and an end of two
    records, the call around a record, the device of a folder (raw-prof 5, 7).
    """

    table: str
    kinds: tuple[str, ...]
    columns: tuple[str, ...]


ENTITIES: Mapping[str, Joined] = {
    "device": Joined("NPU_INFO", ("device_info",), ("id", "name")),
    "host_call": Joined("CANN_API", ("api_event",), ("connection",)),
    "task": Joined(
        "TASK",
        ("stars_soc", "hwts", "hwts_aiv", "task_track"),
        ("id", "start", "end", "connection"),
    ),
    "kernel": Joined(
        "COMPUTE_TASK_INFO",
        ("node_basic_info", "tensor_info", "task_track", "api_event"),
        ("task", "output_formats", "output_data_types", "output_shapes"),
    ),
    "copy": Joined("MEMCPY_INFO", ("memcpy_info", "task_track"), ("task",)),
    "collective": Joined(
        "COMMUNICATION_OP",
        ("hccl_op_info", "hccl_info", "api_event"),
        ("id", "start", "end", "connection", "device", "kind"),
    ),
    "transfer": Joined(
        "COMMUNICATION_TASK_INFO",
        ("hccl_info", "api_event", "task_track"),
        ("task", "collective"),
    ),
    "workspace_event": Joined("NPU_OP_MEM", ("task_memory_info",), ("kind",)),
    "llc": Joined("LLC", ("llc",), ("device", "mode", "throughput", "hit_rate")),
    "hbm": Joined("HBM", ("hbm",), ("device", "bandwidth")),
    "module_memory": Joined("NPU_MODULE_MEM", ("npu_module_mem",), ("device",)),
    "process_memory": Joined("NPU_MEM", ("npu_mem",), ("device",)),
}
"""Entities of which relations are known. What exporters compute, as the rate of a transfer or the
overlap of tasks, is none of it.
"""


@per_spec
def values_shown() -> Mapping[str, frozenset[str]]:
    """The columns of each entity that are stated or joined."""
    return {
        name: frozenset({*_stated(name, joined.kinds), *joined.columns})
        for name, joined in ENTITIES.items()
    }


def _stated(entity: str, kinds: tuple[str, ...]) -> Iterator[str]:
    """The columns that fields of these kinds of files show."""
    of_devices = {one for one, kind in raw_catalog().files.items() if kind.side != "framework"}
    for value, places in raw_showers().items():
        owner, _, column = value.partition(".")
        if owner == entity and any(one in kinds and one in of_devices for one, _ in places):
            yield column
