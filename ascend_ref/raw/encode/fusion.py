"""Operators that the graph engine fused, and the names of models."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ascend_ref.capture import Capture, Integers

from ..fusion import KIND, MODELS, PARTS, RECORD, SEPARATOR, held_of_fusions, sizes
from ..vocabulary import level
from .calls import HostTicks
from .tree import RawTree, Rows


def write_fusions(capture: Capture, tree: RawTree, ticks: HostTicks) -> None:
    """Write the fused operators at the beginning of the first call of their model."""
    calls = first_calls(capture, ticks)
    held = held_of_fusions(capture, list(calls)).get(RECORD)
    _write_models(capture, tree, ticks, calls, held or {"model": np.zeros(0, np.int64)})
    if held is None or not tree.writes(KIND):
        return
    texts = capture.texts
    every = texts.all
    rows = tree.rows(KIND, len(held["model"]))
    _place(rows, ticks, [calls[model] for model in held["model"].tolist()])
    rows["opName"] = tree.hashes(texts, held["name"])
    for column, field in sizes().items():
        rows[field] = held[column]
        rows["totalMemSize"] += rows[field]
    parts = [every[one].split(SEPARATOR) for one in held["originals"].tolist()]
    rows["fusionOpNum"] = [len(one) for one in parts]
    for own, names in zip(rows[PARTS], parts, strict=True):
        own[: len(names)] = [tree.hash(one) for one in names]
    tree.add(KIND, rows)


def _write_models(
    capture: Capture,
    tree: RawTree,
    ticks: HostTicks,
    calls: Mapping[int, int],
    held: Mapping[str, Integers],
) -> None:
    """Write which graph a model is. A model without fused operators, as all of level 0, has no
    name; executors report 0 in its place (ge-profiling 5.11).
    """
    named, first = np.unique(held["model"], return_index=True)
    models = np.unique([*calls, *named.tolist()]).astype(np.int64)
    if not tree.writes(MODELS):
        return
    rows = tree.rows(MODELS, len(models))
    _place(rows, ticks, [calls[model] for model in models.tolist()])
    if len(named):
        known = np.searchsorted(models, named)
        rows["modelName"][known] = tree.hashes(capture.texts, held["model_name"][first])
    rows["modelId"] = rows["graphId"] = models
    tree.add(MODELS, rows)


def first_calls(capture: Capture, ticks: HostTicks) -> dict[int, int]:
    """The row of the first call of each model that calls name, in order of start."""
    models, _ = ticks.model_numbers(capture.tasks)
    rows = np.flatnonzero((ticks.tree.level == level("MODEL")) & (models >= 0))
    rows = rows[np.argsort(ticks.tree.start[rows], kind="stable")]
    found: dict[int, int] = {}
    for row, model in zip(rows.tolist(), models[rows].tolist(), strict=True):
        found.setdefault(model, row)
    return found


def _place(rows: Rows, ticks: HostTicks, call: list[int]) -> None:
    """Records lie in a call behind its start."""
    rows["threadId"] = ticks.tree.thread[call]
    rows["timeStamp"] = ticks.tree.start[call] + 1
