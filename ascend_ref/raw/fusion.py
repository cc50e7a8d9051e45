"""Operators that the graph engine fused, and the names of models (raw-prof 4.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ascend_ref.capture import Capture
from ascend_ref.capture.model import NONE
from ascend_ref.capture.records import RECORDS, Records
from ascend_spec import per_spec, raw_catalog
from ascend_spec.core.packed import dtype_of

from .fields import field_showing
from .machine import chip_of

RECORD, KIND, MODELS = "fusion_op", "fusion_op_info", "graph_id_map"
"""The record of the recording, and the files that hold it."""
SEPARATOR = ";"
PARTS = "fusionOpId"
"""The field of the original operators."""


@per_spec
def most_parts() -> int:
    """Original operators that a record has room for."""
    shape = dtype_of(raw_catalog().record("FUSION_OP_INFO"))[PARTS].shape
    return int(shape[0])


@per_spec
def sizes() -> Mapping[str, str]:
    """The fields of sizes by column."""
    record = raw_catalog().record("FUSION_OP_INFO")
    columns = (name for name, kind in RECORDS[RECORD].columns.items() if kind == "size")
    return {one: str(field_showing(record, f"{RECORD}.{one}").name) for one in columns}


def held_of_fusions(capture: Capture, models: Sequence[int]) -> Records:
    """The fused operators that raw files hold; models: those that a call names, in order."""
    table = capture.records.get(RECORD)
    if table is None or chip_of(capture.origin) not in raw_catalog().files[KIND].chips:
        return {}
    every = capture.texts.all
    parts = [every[one].count(SEPARATOR) + 1 for one in table["originals"].tolist()]
    own = np.isin(table["model"], np.array(models, np.int64)) & (
        np.array(parts, np.int64) <= most_parts()
    )
    place = {model: at for at, model in enumerate(models)}
    order = np.argsort([place.get(one, NONE) for one in table["model"].tolist()], kind="stable")
    order = order[own[order]]
    return {RECORD: {name: values[order] for name, values in table.items()}} if len(order) else {}
