"""Clean folders on which the rules are tried: simulated captures of small runs."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ascend_ref.raw.slices import write_slices
from ascend_simulator.choices import Scenario
from ascend_simulator.ge.host_text import write_host_text
from ascend_simulator.run import simulate, write_run
from ascend_simulator.scenario import override, preset
from ascend_spec import raw_catalog
from ascend_spec.core.packed import dtype_of

from .rules import TEXT

SEED, PID = 3, 4242

WITH_ATTRIBUTES = 3
"""Operators of a specimen that have some."""

SPECIMENS: Mapping[str, str] = {
    "operators": "cnn-910b",
    "graphs": "text-museum",
    TEXT: "text-museum",
}
"""By the name of the subject, the preset of which it is the first rank."""


def write_specimen(subject: str, folder: Path) -> Path:
    """Write a small clean PROF_*, or a text, and nothing else into an empty folder.

    Raises ``KeyError`` for an unknown subject.
    """
    if subject == TEXT:
        return write_host_text(simulate(small(SPECIMENS[subject]), SEED).capture(0), folder, PID)
    path = write_capture(SPECIMENS[subject], folder)
    _write_attributes(path / "host" / "data")
    return path


def small(name: str) -> Scenario:
    """A preset with few ranks and steps."""
    return override(preset(name), ranks=2, steps=2)


def write_capture(name: str, folder: Path) -> Path:
    """Write the PROF_* of the first rank of a small preset, and nothing else, into a folder."""
    with TemporaryDirectory(prefix=".ascend-ref-") as place:
        run = write_run(small(name), SEED, Path(place) / "run", ("raw",)).folder
        found = sorted(run.rglob("PROF_*"))[0]
        return Path(shutil.move(found, folder / found.name))


def _write_attributes(folder: Path) -> None:
    """Records of attributes, which no program of the simulator has, for the first operators.

    Their texts are those of the types of these.
    """
    catalog = raw_catalog()
    of_operators, of_attributes = (
        np.dtype(dtype_of(catalog.record(name))) for name in ("NODE_BASIC_INFO", "NODE_ATTR_INFO")
    )
    operators = np.fromfile(folder / "unaging.compact.node_basic_info.slice_0", of_operators)
    rows = np.zeros(min(len(operators), WITH_ATTRIBUTES), of_attributes)
    for name in ("magicNumber", "level", "threadId", "timeStamp", "opName"):
        rows[name] = operators[name][: len(rows)]
    rows["type"] = catalog.files["node_attr_info"].type
    rows["hashId"] = operators["opType"][: len(rows)]
    form = catalog.files["node_attr_info"].name
    write_slices(folder, form, rows, rows.nbytes, age="unaging")
