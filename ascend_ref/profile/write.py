"""From captures to profiles on disk."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from ascend_ref import names
from ascend_ref.atomic import staged
from ascend_ref.capture import Capture, Origin
from ascend_ref.capture.merge import merged
from ascend_ref.capture.model import NONE
from ascend_ref.db.encode import encode
from ascend_ref.db.encode.collection import collected
from ascend_ref.db.encode.metadata import environment, program_facts
from ascend_ref.db.writer import write_database
from ascend_ref.raw.machine import machine_info
from ascend_ref.spill import Spill
from ascend_spec import catalog, layout_catalog
from ascend_spec.db.model import Carrier

from .information import Form, Schedule, profiler_info

PYTORCH_FORMS: tuple[Form, ...] = ("text", "db")
"""In the order in which torch_npu lists them."""
TEXTS = ("csv", "timeline", "documents")
"""The parts of the text deliverables of the framework's exporter."""
MSPROF_FORMS = ("db", "csv", "timeline", "raw")


def write_pytorch_profile(
    folder: Path,
    capture: Capture,
    revision: str,
    forms: Collection[str] = ("db",),
    without_arrows: Collection[str] = (),
    lost: list[str] | None = None,
) -> Path:
    """Write ``{host}_{process}_{time}_ascend_pt`` below ``folder``; returns its path.

    forms: ``db``, the database of the rank, and analysis.db where the switches collect anything for
    it; ``text``, the text deliverables of today's writers with what a database of the revision
    holds; or both, in one ASCEND_PROFILER_OUTPUT; ``raw``, what was recorded, and then the other
    forms show what that holds. without_arrows: categories of flows that its timeline lacks. Next to
    it stand profiler_info, what the program said about itself, and the information of CANN's
    profiler about host and devices. lost: takes what the raw files do not hold, a phrase each. It
    appears complete or not at all.

    Raises ``FileExistsError`` for a profile that exists, ``KeyError`` for an unknown revision,
    ``ValueError`` for an unknown form, a capture that cannot be encoded or a group of metrics that
    the framework's profiler does not have, ``OSError`` where ``folder`` cannot be written.
    """
    require_known(forms, (*PYTORCH_FORMS, "raw"))
    origin, recorded = capture.origin, capture
    missing: list[str] = []
    if "raw" in forms:
        from ascend_ref.raw.framework.view import pytorch_view  # slow: the spec of raw files

        capture, missing = pytorch_view(capture)
    name = names.pytorch_folder(origin.host_name, origin.pid, origin.start)
    texts = "text" in forms
    # Raw files alone are not exported yet, and may become both.
    exported = [form for form in PYTORCH_FORMS if form in forms] or PYTORCH_FORMS
    with staged(folder / name) as draft:
        if set(forms) & set(PYTORCH_FORMS):
            write_pytorch_outputs(draft, capture, revision, forms, without_arrows)
        info = profiler_info(
            catalog().revision(revision),
            capture.switches,
            Schedule.of(recorded.steps if origin.scheduled is None else origin.scheduled),
            origin,
            exported,
        )
        write_json(
            draft / layout_catalog().file("pytorch", "profiler_info", copy=origin.rank),
            info,
            indent=4,
        )
        # The environment stands in META_DATA of the database, in text mode in this file.
        facts = (environment() if texts else {}) | program_facts(recorded)
        if facts:
            write_json(draft / layout_catalog().file("pytorch", "profiler_metadata"), facts)
        if capture.switches.npu:
            prof = draft / prof_folder(origin)
            prof.mkdir()
            if "raw" not in forms:
                write_machine(prof, [origin])
        if "raw" in forms:
            from ascend_ref.raw.framework.write import write_framework
            from ascend_ref.raw.tree import FRAMEWORK

            if capture.switches.npu:
                missing += _write_raw(prof, capture)
            write_framework(draft / FRAMEWORK, capture)
    if lost is not None:
        lost += missing
    return folder / name


def write_pytorch_outputs(
    folder: Path,
    capture: Capture,
    revision: str,
    forms: Collection[str],
    without_arrows: Collection[str] = (),
) -> None:
    """What the framework's exporter makes of a capture: ASCEND_PROFILER_OUTPUT in the folder.

    forms: ``db``, or ``text`` or parts of it: ``csv``, ``timeline``, ``documents``. Other arguments
    and errors as of :func:`write_pytorch_profile`.
    """
    output = folder / layout_catalog().folder("pytorch", "output")
    output.mkdir()
    if "db" in forms:
        database = output / _database_of(capture.origin.rank)
        write_database_of(database, capture, revision, "pytorch")
        analysis = layout_catalog().file("pytorch", "analysis")
        write_database_of(output / analysis, capture, revision, "analysis")
    kinds = TEXTS if "text" in forms else [kind for kind in TEXTS if kind in forms]
    if kinds:
        from .text import write_framework_texts  # slow: the spec of all files

        write_framework_texts(output, capture, "pytorch", revision, without_arrows, kinds)


def write_msprof_profile(
    folder: Path,
    captures: Sequence[Capture],
    revision: str,
    forms: Collection[str] = ("db",),
    without_arrows: Collection[str] = (),
    writer: str | None = None,
    lost: list[str] | None = None,
) -> Path:
    """Write ``PROF_{number}_{time}_{letters}`` below ``folder``; returns its path.

    ``captures``: those of the devices of one process, at least one. forms: ``db``, the database
    that they share; ``csv`` and ``timeline``, text deliverables in mindstudio_profiler_output;
    ``raw``, what host and devices recorded, and then the other forms show what that holds.
    without_arrows: categories of flows that its timelines lack. writer: the generation of exporters
    that writes the texts, by default the current one. lost: takes what the raw files do not hold, a
    phrase each. The folder appears complete or not at all.
    Raises as :func:`write_pytorch_profile`.
    """
    require_known(forms, MSPROF_FORMS)
    capture = merged(captures)
    missing: list[str] = []
    if "raw" in forms:
        from ascend_ref.raw.view import raw_view  # slow: the spec of raw files

        capture, missing = raw_view(collected(capture))
    name = prof_folder(capture.origin)
    with staged(folder / name) as draft:
        write_msprof_outputs(draft, capture, revision, forms, without_arrows, writer)
        if "raw" in forms:
            missing += _write_raw(draft, capture)
        else:
            write_machine(draft, [capture.origin for capture in captures])
    if lost is not None:
        lost += missing
    return folder / name


def write_msprof_outputs(
    folder: Path,
    capture: Capture,
    revision: str,
    forms: Collection[str],
    without_arrows: Collection[str] = (),
    writer: str | None = None,
    spill: Spill | None = None,
) -> None:
    """What an exporter makes of a capture, into the folder of its raw files or in place of it.

    Arguments and errors as of :func:`write_msprof_profile`. spill: holds long columns of the
    capture, and those that are made of it.
    """
    if "db" in forms:
        path = folder / names.msprof_database(capture.origin.start)
        write_database_of(path, capture, revision, "msprof", spill)
    if "csv" in forms or "timeline" in forms:
        from .text import write_msprof_texts  # slow: the spec of all files

        write_msprof_texts(folder, capture, revision, forms, without_arrows, writer, spill)


def _write_raw(folder: Path, capture: Capture) -> list[str]:
    from ascend_ref.raw.encode.write import write_raw  # slow: the spec of raw files

    return write_raw(folder, capture)


def require_known(forms: Collection[str], known: Sequence[str]) -> None:
    """Raises ``ValueError`` for a form that is not among the known ones."""
    for form in forms:
        if form not in known:
            raise ValueError(f"form: {form!r}; expected one of {', '.join(known)}")


def _database_of(rank: int) -> str:
    """The name without a rank is that of a program that has none (DbParser of torch_npu)."""
    file = layout_catalog().files["pytorch", "database"]
    return file.also[0].of() if rank == NONE else file.name.of(rank=rank)


def prof_folder(origin: Origin) -> str:
    """The name of the folder of CANN's profiler."""
    return names.prof_folder(origin.start, names.letters_of(origin.start + origin.pid))


def write_database_of(
    path: Path,
    capture: Capture,
    revision: str,
    carrier: Carrier,
    spill: Spill | None = None,
    alone: bool = False,
) -> None:
    """Write one database of a capture; none where nothing of it was recorded.

    alone: an analysis as msprof writes it, without what an adapter adds.
    """
    schema = catalog().at(revision, carrier)
    if carrier == "pytorch" and not capture.switches.npu:
        schema = catalog().without_device_data(schema)
    if alone:
        schema = schema.without_adapter
    tables = encode(capture, schema, spill=spill)
    if tables:
        write_database(path, schema, tables, spill=spill)


def write_machine(prof: Path, origins: Sequence[Origin]) -> None:
    """Make the folders of the host and of each device, with info.json where the chip is known."""
    (prof / "host").mkdir()
    if origins[0].chip:
        write_json(prof / "host" / "info.json", machine_info(origins[0], None))
    for origin in origins:
        for device in origin.devices:
            place = prof / f"device_{device}"
            place.mkdir(exist_ok=True)
            if origin.chip:
                write_json(place / f"info.json.{device}", machine_info(origin, device))


def write_json(path: Path, document: dict[str, Any], indent: int | None = None) -> None:
    """Write a document; by default in one line."""
    path.write_text(json.dumps(document, indent=indent), encoding="utf-8")
