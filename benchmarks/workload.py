"""A clean msprof database of any size: n tasks, each with its compute row and its launch."""

from __future__ import annotations

import numpy as np

from ascend_spec import Schema, catalog

START_NS = 1_736_410_576_284_680_000
PERIOD_NS = 1_000
PROCESS = 3_217_657
NONE_32 = 4_294_967_295

TEXTS = (
    "N/A",
    "KERNEL_AIVEC",
    "AI_VECTOR_CORE",
    "launch",
    "aclmdlExecuteAsync",
    "MatMulV2",
    "static",
    "NO",
    "ND;ND",
    "FLOAT16;FLOAT16",
)
NAMES = 1_000
SHAPES = 500
"""Operator names and shapes; a large training profile has some thousand different strings."""

GRAPH = 1_000
"""Launches of one graph, inside one call of acl."""

Columns = dict[str, np.ndarray]
REVISION = "1.2.0-2026-07"


def schema() -> Schema:
    """The newest msprof schema."""
    return catalog().at(REVISION, "msprof")


def tables(n: int) -> dict[str, Columns]:
    """Every table of the database; TASK and COMPUTE_TASK_INFO have n rows, CANN_API some more."""
    index = np.arange(n, dtype=np.int64)
    start = START_NS + 100_000 + index * PERIOD_NS
    text = {name: number for number, name in enumerate(TEXTS)}
    strings = [
        *TEXTS,
        *(f"MatMulV2_{number}" for number in range(NAMES)),
        *(f"{number + 1},1024;1024,4096" for number in range(SHAPES)),
    ]
    end = int(start[-1]) + 10_000
    return {
        "SESSION_TIME_INFO": {
            "startTimeNs": np.array([START_NS]),
            "endTimeNs": np.array([end + (-end % 1_000)]),
        },
        "NPU_INFO": {"id": np.array([0]), "name": np.array(["Ascend910B"], dtype=object)},
        "AICORE_FREQ": {
            "deviceId": np.array([0, 0]),
            "timestampNs": np.array([START_NS, end + (-end % 1_000)]),
            "freq": np.array([1800, 1800]),
            "dieId": np.array([0, 0]),
        },
        "HOST_INFO": {
            "hostUid": np.array(["3538958389648580163"], dtype=object),
            "hostName": np.array(["node-0"], dtype=object),
        },
        "RANK_DEVICE_MAP": {"rankId": np.array([-1]), "deviceId": np.array([0])},
        "TASK": _tasks(index, start, text),
        "COMPUTE_TASK_INFO": _compute(index, text),
        "CANN_API": _calls(index, start, text),
        "STRING_IDS": {
            "id": np.arange(len(strings)),
            "value": np.array(strings, dtype=object),
        },
    }


def _tasks(index: np.ndarray, start: np.ndarray, text: dict[str, int]) -> Columns:
    n = len(index)
    return {
        "startNs": start,
        "endNs": start + 800,
        "deviceId": np.zeros(n, dtype=np.int64),
        "connectionId": _launches(index),
        "globalTaskId": _shuffled(n),
        "globalPid": np.full(n, PROCESS),
        "taskType": np.full(n, text["KERNEL_AIVEC"]),
        "contextId": np.full(n, NONE_32),
        "streamId": index % 4,
        "taskId": index // 4,
        "modelId": np.full(n, NONE_32),
    }


def _launches(index: np.ndarray) -> np.ndarray:
    """The connections of launches; the call around a graph has the number before its first."""
    return np.asarray(index + index // GRAPH + 1)


def _shuffled(n: int) -> np.ndarray:
    """The numbers 0..n-1 in blocks of 64 in reverse: dense, but not in the order of the rows."""
    index = np.arange(n, dtype=np.int64)
    block = index // 64 * 64
    last = np.minimum(block + 63, n - 1)
    return np.asarray(last - (index - block))


def _compute(index: np.ndarray, text: dict[str, int]) -> Columns:
    n = len(index)
    names = len(TEXTS) + index % NAMES
    shapes = len(TEXTS) + NAMES + index % SHAPES
    formats = np.full(n, text["ND;ND"])
    types = np.full(n, text["FLOAT16;FLOAT16"])
    absent = np.full(n, text["N/A"])
    return {
        "name": names,
        "globalTaskId": index,
        "blockNum": np.full(n, 24),
        "mixBlockNum": np.zeros(n, dtype=np.int64),
        "taskType": np.full(n, text["AI_VECTOR_CORE"]),
        "opType": np.full(n, text["MatMulV2"]),
        "inputFormats": formats,
        "inputDataTypes": types,
        "inputShapes": shapes,
        "outputFormats": formats,
        "outputDataTypes": types,
        "outputShapes": shapes,
        "attrInfo": absent,
        "opState": np.full(n, text["static"]),
        "hf32Eligible": np.full(n, text["NO"]),
        "gridDim": absent,
        "blockDim": absent,
    }


def _calls(index: np.ndarray, start: np.ndarray, text: dict[str, int]) -> Columns:
    """The launches of all tasks, and the calls of acl around those of each graph."""
    first = index[::GRAPH]
    last = np.minimum(first + GRAPH, len(index)) - 1
    connection = np.concatenate([_launches(index), _launches(first) - 1])
    order = np.argsort(connection)
    begins = np.concatenate([start - 20_000, start[first] - 20_100])[order]
    ends = np.concatenate([start - 19_500, start[last] - 19_400])[order]
    is_launch = order < len(index)
    return {
        "startNs": begins,
        "endNs": ends,
        "type": np.where(is_launch, 10_000, 20_000),
        "globalTid": np.full(len(order), (PROCESS << 32) | PROCESS),
        "connectionId": connection[order],
        "name": np.where(is_launch, text["launch"], text["aclmdlExecuteAsync"]),
    }
