"""The text deliverables of a profile, where its exporters leave them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from ascend_ref import names
from ascend_ref.capture import Capture
from ascend_ref.documents import write_documents
from ascend_ref.recorded import Output, from_captures
from ascend_ref.spill import Spill
from ascend_ref.text import write_csv_files
from ascend_ref.timeline import write_timeline
from ascend_spec import layout_catalog

from .readme import README, readme


def write_framework_texts(
    folder: Path,
    capture: Capture,
    output: Output,
    revision: str,
    without_arrows: Collection[str],
    kinds: Collection[str],
    writer: str | None = None,
) -> None:
    """Of a rank, into ASCEND_PROFILER_OUTPUT: ``csv`` files, the ``timeline`` trace_view.json and
    the JSON ``documents``, those that ``kinds`` names, as the profiler of a framework writes them.
    writer: the generation, by default today's.
    """
    recorded = from_captures([capture], output, revision)
    if "csv" in kinds:
        write_csv_files(recorded, folder, writer=writer)
    if "timeline" in kinds:
        write_timeline(recorded, folder, writer=writer, without_arrows=without_arrows)
    if "documents" in kinds:
        write_documents(recorded, folder, writer)


def write_msprof_texts(
    prof: Path,
    capture: Capture,
    revision: str,
    forms: Collection[str],
    without_arrows: Collection[str],
    writer: str | None = None,
    spill: Spill | None = None,
) -> None:
    """``csv`` and ``timeline`` of a process, into mindstudio_profiler_output with its README.

    writer: ``cpp`` or ``python``; None: the current one of the product family. spill: holds long
    columns.
    """
    recorded = from_captures([capture], "msprof", revision, spill)
    folder = prof / layout_catalog().folder("msprof", "output")
    folder.mkdir()
    timestamp = names.stamp(capture.origin.start)[:14]
    written = []
    if "timeline" in forms:
        written += write_timeline(
            recorded,
            folder,
            writer=writer,
            timestamp=timestamp,
            without_arrows=without_arrows,
        )
    if "csv" in forms:
        written += write_csv_files(recorded, folder, writer=writer, timestamp=timestamp)
    (folder / README).write_text(readme(written), encoding="utf-8")
