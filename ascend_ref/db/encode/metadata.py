"""Tables that say what was captured, where and when."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa

from ascend_ref.capture import Capture, Integers
from ascend_ref.capture.model import NONE

from ..ddl import version_facts
from .recording import Recording, Rows

ENVIRONMENT = (
    "ASCEND_GLOBAL_LOG_LEVEL",
    "HCCL_RDMA_TC",
    "HCCL_RDMA_SL",
    "ACLNN_CACHE_LIMIT",
    "HOST_CACHE_CAPACITY",
    "ASCEND_ENHANCE_ENABLE",
    "PYTORCH_NPU_ALLOC_CONF",
    "ASCEND_LAUNCH_BLOCKING",
)
"""Variables of ENV_VARIABLES (db-schema.md 4.8)."""

PARALLEL_GROUPS = "parallel_group_info"


def session(recording: Recording) -> Rows:
    """SESSION_TIME_INFO."""
    origin = recording.capture.origin
    end = recording.habits.missing_end(origin.start) if origin.end is None else origin.end
    return {"start": np.array([origin.start]), "end": np.array([end])}


def devices(recording: Recording) -> Rows:
    """NPU_INFO."""
    origin = recording.capture.origin
    return {"id": _devices(recording), "name": _texts([origin.chip] * len(origin.devices))}


def host(recording: Recording) -> Rows:
    """HOST_INFO."""
    origin = recording.capture.origin
    return {"uid": np.array([origin.host_uid]), "name": _texts([origin.host_name])}


def ranks(recording: Recording) -> Rows:
    """RANK_DEVICE_MAP; msprof does not know the rank."""
    origin = recording.capture.origin
    rank = origin.rank if recording.has_framework else -1
    numbers = _devices(recording)
    if recording.has_framework and not recording.capture.origin.devices:
        numbers = np.array([NONE])  # of a profile of the host alone (consumers.md 2.7)
    return {"rank": np.full(len(numbers), rank), "id": numbers}


def facts(recording: Recording) -> Rows:
    """META_DATA."""
    schema = recording.schema
    found = version_facts(schema.revision.schema_version) if schema.device_data else {}
    if recording.has_framework:
        described = environment() | program_facts(recording.capture)
        found |= {name: json.dumps(value) for name, value in described.items()}
    return {"name": _texts(list(found)), "value": _texts(list(found.values()))}


def environment() -> dict[str, Any]:
    """The variables of the environment that the framework's profiler looks at; none is set."""
    return {"ENV_VARIABLES": dict.fromkeys(ENVIRONMENT, "")}


def program_facts(capture: Capture) -> dict[str, Any]:
    """What the program reported to the profiler: the keys of profiler_metadata.json.

    Source: consumers.md 3.2.
    """
    facts = {PARALLEL_GROUPS: parallel_groups(capture), **capture.origin.metadata}
    return {name: value for name, value in facts.items() if value}


def parallel_groups(capture: Capture) -> dict[str, Any]:
    """parallel_group_info: the readable names of the groups with what they are for.

    Readers hash the keys and look them up among the groups of the operators (consumers.md 2.1.5).
    """
    groups, texts = capture.groups, capture.texts.all
    return {
        texts[groups.name[row]]: {
            "group_name": texts[groups.purpose[row]],
            "group_rank": int(groups.rank[row]),
            "global_ranks": capture.group_ranks[first : first + size].tolist(),
        }
        for row, (first, size) in enumerate(
            zip(groups.first.tolist(), groups.size.tolist(), strict=True)
        )
        if texts[groups.purpose[row]]
    }


def _devices(recording: Recording) -> Integers:
    if not recording.schema.device_data:
        return np.array([NONE])
    return np.array(recording.capture.origin.devices, np.int64)


def _texts(values: list[str]) -> pa.Array:
    return pa.array(values, pa.large_string())
