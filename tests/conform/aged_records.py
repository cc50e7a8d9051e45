"""The stage of raw files whose device kept the newest records alone: in front of these stands the
rest of one that the limit of storage took away (raw-prof 2).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from raw_zoo import SIZE, log_of, slices_of

from ascend_conformance.harness.case import Case
from ascend_conformance.harness.stages import STAGES

REST = 24
"""Bytes of the record that is left of."""


def _make(case: Case, folder: Path, writer: str | None = None) -> None:
    STAGES["raw-to-text"].make(case, folder, writer)
    (source,) = (folder / "input").iterdir()
    for device in source.glob("device_*"):
        first = slices_of(device, log_of(device))[0]
        content = first.read_bytes()
        first.write_bytes(content[SIZE - REST : SIZE] + content)


AGED = replace(STAGES["raw-to-text"], make=_make)
