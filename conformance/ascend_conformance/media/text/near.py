"""What stands around the text files of a folder of MindSpore."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ascend_spec import layout_catalog, mindspore_catalog

from ...engine.folders import is_collection
from .deliverables import COMPANIONS, Deliverable

Row = tuple[str, str, str | None]
KeyRow = tuple[int, str, bool, bool, int | None, int | None]
DEVICE = "device_"
SUMMARY, OPERATORS = "minddata_pipeline_summary", "op_ids"
SINGLE = ("per_pipeline_time", "per_push_queue_time", "per_batch_time")
SENTENCES = (
    *("cpu_analysis_details", "queue_analysis_details"),
    *("bottleneck_warning", "bottleneck_suggestion"),
)
OPTIONAL = ("avg_cpu_pct_per_worker", *SENTENCES)
"""Keys that are there only where there is something to be stated."""


def near_mindspore(deliverables: Sequence[Deliverable]) -> Iterator[Row]:
    """Rows of unit.near. A folder that cannot be listed has nothing around it."""
    outputs = {one.path.parent.absolute() for one in deliverables if one.name not in COMPANIONS}
    for output in sorted(outputs):
        profile = output.parent if _is_output(output) else output
        yield "profile", profile.name, _form_of(profile.name)
        for path in _inside(output):
            if _is_database(path.name):
                yield "database", path.name, None
        if profile == output:
            continue
        for prof in _inside(profile):
            if is_collection(prof.name):
                yield from _devices(prof)


def profiles_of(deliverables: Sequence[Deliverable]) -> list[Path]:
    """The profiles whose output folders files are in."""
    outputs = {one.path.parent.absolute() for one in deliverables if one.name not in COMPANIONS}
    return sorted(one.parent for one in outputs if _is_output(one))


def pipeline_summary(deliverables: Sequence[Deliverable]) -> Iterator[KeyRow]:
    """Rows of unit.pipeline; none without a summary, and one without a key of one that is no
    document of lists.
    """
    table = mindspore_catalog().tables[SUMMARY]
    outputs = {one.path.parent.absolute() for one in deliverables if one.name not in COMPANIONS}
    for path in (path for output in sorted(outputs) for path in _inside(output)):
        if not any(one.form.fits(path.name) for one in table.names):
            continue
        document = _object(path)
        known = [one.name for one in table.columns]
        operators = _length(document, OPERATORS)
        wanted = dict.fromkeys(SINGLE, 1) | dict.fromkeys(SENTENCES)
        for row, key in enumerate(dict.fromkeys([*known, *document])):
            if key in document or key not in OPTIONAL:
                required = key in known and key not in OPTIONAL
                lengths = _length(document, key), wanted.get(key, operators)
                yield row, key, required, key in known, *lengths


def _length(document: Mapping[str, Any], key: str) -> int | None:
    values = document.get(key)
    return len(values) if isinstance(values, list) else None


def _object(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_output(folder: Path) -> bool:
    return layout_catalog().folders["mindspore", "output"].is_called(folder.name)


def _form_of(name: str) -> str | None:
    """By today's form of name or an earlier one; those of old have no process behind one ``_``."""
    folder = layout_catalog().folders["mindspore", "profile"]
    if any(form.fits(name) for form in folder.also):
        return "earlier"
    return "today" if folder.name.fits(name) else None


def _is_database(name: str) -> bool:
    return any(form.fits(name) for form in layout_catalog().files["mindspore", "database"].forms)


def _devices(prof: Path) -> Iterator[Row]:
    for path in _inside(prof):
        number = path.name.removeprefix(DEVICE)
        if number != path.name and number.isdecimal():
            yield "device", number, None


def _inside(folder: Path) -> Sequence[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return ()
