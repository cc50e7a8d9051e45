"""Which raw files a fault can damage so that a reader can know it."""

from __future__ import annotations

from ascend_ref.raw.dictionaries import TEXTS, TYPES
from ascend_ref.raw.layout import Layout
from ascend_spec import mindspore_catalog, raw_catalog
from ascend_spec.raw import RawFile

from ..choices import FaultKind


def raw_kinds(kind: FaultKind) -> tuple[str, ...]:
    """The kinds of raw files that a fault can damage, as the spec calls them.

    A torn record is known by the magic numbers of the others: without them a reader takes bytes of
    two records for one.
    """
    files = [one for one in raw_catalog().files.values() if one.side != "framework" and one.read]
    records = [one for one in files if one.form == "records" and one.sliced and has_one_size(one)]
    match kind:
        case "raw-lost-slice" | "raw-aged-head":
            found = records
        case "raw-torn-record":
            found = [one for one in records if has_magic(one)]
        case "raw-lost-side":
            found = [one for one in files if one.folder == "side" or one.file in (TEXTS, TYPES)]
        case _:
            found = [one for one in files if one.folder == "side" and states_clock(one)]
    return tuple(one.file for one in found)


def job_kinds(kind: FaultKind) -> tuple[str, ...]:
    """The kinds of raw files of MindSpore's profiler of which a fault names one; empty for others.

    Slices of records may be lost; of text a reader could not say what.
    """
    files = [one for one in mindspore_catalog().files.values() if one.target in ("ascend", "host")]
    match kind:
        case "job-lost-file":
            return tuple(one.file for one in files if not {"hccl", "export"} & {*one.places})
        case "job-lost-slice":
            return LOST_SLICES
        case _:
            return ()


LOST_SLICES = ("hwts", "training_trace", "ts_track")
"""Kinds of files of MindSpore's profiler of which a slice may be lost."""


def has_one_size(file: RawFile) -> bool:
    """Whether the length of no record of a file varies."""
    return all(raw_catalog().record_size(one.record) is not None for one in file.members)


def has_magic(file: RawFile) -> bool:
    """Whether each record of a file has a magic number."""
    layouts = (Layout(0, (one,), None) for one in file.members)
    return all(layout.magic is not None for layout in layouts)


def states_clock(file: RawFile) -> bool:
    """Whether a side file says how a counter runs."""
    return file.grammar is not None or file.document == "info"
