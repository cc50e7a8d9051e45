"""The report as one JSON document, described by ``report.schema.json`` (JSON Schema 2020-12)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, cast

from ascend_conformance.finding import FileReport, Report

from .card import RuleCard
from .collapse import collapse
from .detail import FULL, Detail
from .escape import LINE_WIDTH, json_text
from .objects import (
    FORMAT_VERSION,
    JsonObject,
    file_object,
    finding_objects,
    skipped_objects,
    summary_object,
    with_left_out,
)

SCHEMA_ID = "urn:ascend-ref:report:1"


def render(report: Report, cards: Mapping[str, RuleCard], detail: Detail = FULL) -> Iterator[str]:
    """The document. ``seconds`` is its only field that differs between runs on the same input."""
    listed = collapse(report, detail.findings).files
    document = {
        "$schema": SCHEMA_ID,
        "version": FORMAT_VERSION,
        **summary_object(report),
        "files": [_whole_file(file, detail) for file in listed],
    }
    yield json_text(document, LINE_WIDTH) + "\n"


def report_schema() -> dict[str, Any]:
    """The published JSON Schema of this format."""
    text = (files(__package__) / "report.schema.json").read_text(encoding="utf-8")
    return cast("dict[str, Any]", json.loads(text))


def _whole_file(file: FileReport, detail: Detail) -> JsonObject:
    findings, more_findings = finding_objects(file, detail)
    skipped, more_skipped = skipped_objects(file, detail)
    return with_left_out(
        {
            **file_object(file, detail),
            "seconds": round(file.seconds, 3),
            "findings": findings,
            "skipped": skipped,
        },
        {"findings": more_findings, "skipped": more_skipped},
    )
