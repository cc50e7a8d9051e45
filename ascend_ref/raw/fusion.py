"""Operators that the graph engine fused, and the names of models (raw-prof 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ascend_ref.capture import Capture
from ascend_ref.capture.model import NONE
from ascend_ref.capture.records import Records

RECORD, KIND, MODELS = "fusion_op", "fusion_op_info", "graph_id_map"
"""The record of the recording, and the files that hold it."""
MOST_PARTS = 8
"""Original operators that a record has room for."""
SEPARATOR = ";"
SIZES = {
    "input": "inputMemsize",
    "output": "outputMemsize",
    "weight": "weightMemSize",
    "workspace": "workspaceMemSize",
}
"""Fields of the columns."""


def held_of_fusions(capture: Capture, models: Sequence[int]) -> Records:
    """The fused operators that raw files hold; models: those that a call names, in order."""
    table = capture.records.get(RECORD)
    if table is None:
        return {}
    every = capture.texts.all
    parts = [every[one].count(SEPARATOR) + 1 for one in table["originals"].tolist()]
    own = np.isin(table["model"], np.array(models, np.int64)) & (
        np.array(parts, np.int64) <= MOST_PARTS
    )
    place = {model: at for at, model in enumerate(models)}
    order = np.argsort([place.get(one, NONE) for one in table["model"].tolist()], kind="stable")
    order = order[own[order]]
    return {RECORD: {name: values[order] for name, values in table.items()}} if len(order) else {}
