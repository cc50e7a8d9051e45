"""The JSON objects of a report, as ``report.schema.json`` describes them.

Whatever a bound cut off is counted in the ``left_out`` object beside the list that was cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ascend_conformance.finding import FileReport, Finding, Report, Scalar, Seen, Skipped

from .collapse import shown
from .detail import Detail
from .escape import exact, scalar_json
from .phrases import conformity, tally

JsonObject = dict[str, Any]

FORMAT_VERSION = 1


def summary_object(report: Report) -> JsonObject:
    """Who judged, how, and the counts of places per verdict."""
    return {
        "tool": {"name": "ascend-ref", "version": report.tool_version},
        "reading": report.reading,
        "conformity": conformity(report.files),
        "counts": {
            **tally(report.files),
            "skipped": sum(len(file.skipped) for file in report.files),
            "files": len(report.files),
            "unreadable": sum(file.unreadable is not None for file in report.files),
        },
    }


def file_object(file: FileReport, detail: Detail) -> JsonObject:
    """One file with what was seen in it, without its findings and skipped checks."""
    return {
        "file": exact(file.file, detail.path),
        "conformity": conformity((file,)),
        "unreadable": None if file.unreadable is None else exact(file.unreadable, detail.prose),
        "seen": None if file.seen is None else _seen_object(file.seen, detail),
        "rules_run": file.rules_run,
        "places_checked": file.places_checked,
        "counts": {**tally((file,)), "skipped": len(file.skipped)},
    }


def finding_objects(file: FileReport, detail: Detail) -> tuple[list[JsonObject], int]:
    """The findings of a file, gravest first, and the number of places left out."""
    listing = shown(file, detail)
    return [_finding_object(finding, detail) for finding in listing.findings], listing.left_out


def skipped_objects(file: FileReport, detail: Detail) -> tuple[list[JsonObject], int]:
    """The skipped checks of a file by rule and place, and the number left out."""
    ordered = sorted(file.skipped, key=lambda skip: (skip.rule, skip.place, skip.reason))
    first = ordered[: detail.entries]
    return [_skipped_object(skip, detail) for skip in first], len(ordered) - len(first)


def with_left_out(target: JsonObject, counts: Mapping[str, int]) -> JsonObject:
    """``target``, and how many entries each of its lists lacks, where one lacks any."""
    missing = {name: count for name, count in counts.items() if count}
    return {**target, "left_out": missing} if missing else target


def _finding_object(finding: Finding, detail: Detail) -> JsonObject:
    result: JsonObject = {"file": exact(finding.file, detail.path)} if finding.in_text else {}
    result |= {
        "rule": exact(finding.rule, detail.name),
        "name": exact(finding.name, detail.name),
        "verdict": finding.verdict,
        "table": None if finding.table is None else exact(finding.table, detail.name),
        "column": None if finding.column is None else exact(finding.column, detail.name),
        "message": exact(finding.message, detail.prose),
        "expected": exact(finding.expected, detail.prose),
        "count": finding.count,
        "first_rowid": finding.first_rowid,
        "fingerprint": finding.fingerprint,
    }
    if finding.line is not None:
        result["line"] = finding.line
    if finding.offset is not None:
        result["offset"] = finding.offset
    if finding.pointer is not None:
        result["pointer"] = exact(finding.pointer, detail.path)
    if finding.examples and detail.examples:
        rows = finding.examples[: detail.examples]
        result["examples"] = [_row_object(row, detail) for row in rows]
    if finding.context:
        result["context"] = _row_object(finding.context, detail)
    if finding.erratum is not None:
        result["erratum"] = exact(finding.erratum, detail.name)
    if finding.sql is not None:
        result["sql"] = exact(finding.sql, detail.sql)
    first = list(finding.elsewhere.items())[: detail.places]
    if first:
        result["elsewhere"] = _keyed(first, 2 * detail.name)
    return with_left_out(
        result,
        {
            "elsewhere": len(finding.elsewhere) - len(first),
            "examples": len(finding.examples) - len(result.get("examples", ())),
        },
    )


def _skipped_object(skip: Skipped, detail: Detail) -> JsonObject:
    return {
        "rule": exact(skip.rule, detail.name),
        "place": exact(skip.place, 2 * detail.name),
        "reason": exact(skip.reason, detail.prose),
    }


def _seen_object(seen: Seen, detail: Detail) -> JsonObject:
    def known(text: str | None) -> str | None:
        return None if text is None else exact(text, detail.name)

    rows = sorted(seen.rows.items())
    missing, readings = seen.coverage.missing_tables, seen.readings
    most = detail.entries
    result: JsonObject = {
        "carrier": known(seen.carrier),
        "schema_version": known(seen.schema_version),
        "revision": known(seen.revision),
        "product": known(seen.product),
        "level": known(seen.level),
        "ranks": list(seen.ranks[:most]),
        "devices": list(seen.devices[:most]),
        "start_ns": seen.start_ns,
        "end_ns": seen.end_ns,
        "rows_total": sum(seen.rows.values()),
        "rows": _keyed(rows[:most], detail.name),
        "coverage": {
            "exercised": seen.coverage.exercised,
            "producible": seen.coverage.producible,
            "share": round(seen.coverage.share, 6),
            "missing_tables": [exact(table, detail.name) for table in missing[:most]],
        },
        "readings": [exact(reading, detail.name) for reading in readings[:most]],
    }
    written = list(seen.files.items())
    if written:
        first = [(file, exact(text, 2 * detail.name)) for file, text in written[:most]]
        result["files"] = _keyed(first, detail.path)
    return with_left_out(
        result,
        {
            "ranks": len(seen.ranks) - len(seen.ranks[:most]),
            "devices": len(seen.devices) - len(seen.devices[:most]),
            "rows": len(rows) - len(rows[:most]),
            "missing_tables": len(missing) - len(missing[:most]),
            "readings": len(readings) - len(readings[:most]),
            "files": len(written) - len(written[:most]),
        },
    )


def _row_object(row: Mapping[str, Scalar], detail: Detail) -> JsonObject:
    first = list(row.items())[: detail.pairs]
    return _keyed([(name, scalar_json(value, detail.name)) for name, value in first], detail.name)


def _keyed(pairs: Iterable[tuple[str, Scalar]], limit: int) -> JsonObject:
    """An object whose keys are cut to ``limit``; keys that become equal are numbered apart."""
    result: JsonObject = {}
    for name, value in pairs:
        key = cut = exact(name, limit)
        number = 2
        while key in result:
            key = f"{cut}~{number}"
            number += 1
        result[key] = value
    return result
