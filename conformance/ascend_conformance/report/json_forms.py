"""The JSON forms: one document described by ``report.schema.json``, and its objects as JSON lines.

Whatever a bound cut off is counted in the ``left_out`` object next to the list that was cut. Each
line has a ``kind``: per file one ``file``, then its ``finding`` and ``skipped`` lines, each naming
its file again; ``summary`` is always the last. They are for filters and log collectors.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Any, cast

from ascend_conformance.finding import FileReport, Finding, Report, Scalar, Seen

from .collapse import Listed, listed
from .detail import Detail, Rules
from .escape import LINE_WIDTH, JsonObject, exact, json_text, scalar_json
from .phrases import conclusion, conformity, tally

SCHEMA_ID = "urn:ascend-ref:report:1"
FORMAT_VERSION = 1


def render_document(report: Report, _rules: Rules, detail: Detail) -> Iterator[str]:
    """The document. ``seconds`` is its only field that differs between runs on the same input."""
    document = {
        "$schema": SCHEMA_ID,
        "version": FORMAT_VERSION,
        **_summary(report),
        "files": [_whole_file(one, detail) for one in listed(report, detail)],
    }
    yield json_text(document, LINE_WIDTH) + "\n"


def render_lines(report: Report, _rules: Rules, detail: Detail) -> Iterator[str]:
    """One object per line, ``kind`` first."""
    yield from (json_text(line) + "\n" for line in _lines(report, detail))


def report_schema() -> dict[str, Any]:
    """The published JSON Schema of the document."""
    text = (files(__package__) / "report.schema.json").read_text(encoding="utf-8")
    return cast("dict[str, Any]", json.loads(text))


def _whole_file(one: Listed, detail: Detail) -> JsonObject:
    skipped, left_out = _skipped(one, detail)
    return _with_left_out(
        {
            **_file(one.file, detail),
            "seconds": round(one.file.seconds, 3),
            "findings": [_finding(finding, detail) for finding in one.findings],
            "skipped": skipped,
        },
        left_out,
    )


def _lines(report: Report, detail: Detail) -> Iterator[JsonObject]:
    for one in listed(report, detail):
        skipped, left_out = _skipped(one, detail)
        yield _with_left_out({"kind": "file", **_file(one.file, detail)}, left_out)
        name = exact(one.file.file, detail.path)
        for finding in one.findings:
            yield {"kind": "finding", "file": name, **_finding(finding, detail)}
        for skip in skipped:
            yield {"kind": "skipped", "file": name, **skip}
    yield {"kind": "summary", "version": FORMAT_VERSION, **_summary(report)}


def _skipped(one: Listed, detail: Detail) -> tuple[list[JsonObject], Mapping[str, int]]:
    """The skipped checks of a file by rule and place, and what of it is left out."""
    ordered = sorted(one.file.skipped, key=lambda skip: (skip.rule, skip.place, skip.reason))
    first = [
        {
            "rule": exact(skip.rule, detail.name),
            "place": exact(skip.place, 2 * detail.name),
            "reason": exact(skip.reason, detail.prose),
        }
        for skip in ordered[: detail.entries]
    ]
    return first, {"findings": one.left_out, "skipped": len(ordered) - len(first)}


def _summary(report: Report) -> JsonObject:
    """Who judged, how, and the counts of places per verdict."""
    return {
        "tool": {"name": "ascend-ref", "version": report.tool_version},
        "reading": report.reading,
        "question": report.question,
        "conclusion": conclusion(report),
        "conformity": conformity(report.files),
        "counts": {
            **tally(report.files),
            "skipped": sum(len(file.skipped) for file in report.files),
            "files": len(report.files),
            "unreadable": sum(file.unreadable is not None for file in report.files),
        },
    }


def _file(file: FileReport, detail: Detail) -> JsonObject:
    """One file with what was seen in it, without its findings and skipped checks."""
    return {
        "file": exact(file.file, detail.path),
        "conformity": conformity((file,)),
        "unreadable": None if file.unreadable is None else exact(file.unreadable, detail.prose),
        "seen": None if file.seen is None else _seen(file.seen, detail),
        "rules_run": file.rules_run,
        "places_checked": file.places_checked,
        "counts": {**tally((file,)), "skipped": len(file.skipped)},
    }


def _with_left_out(target: JsonObject, counts: Mapping[str, int]) -> JsonObject:
    """``target``, and how many entries each of its lists lacks, where one lacks any."""
    missing = {name: count for name, count in counts.items() if count}
    return {**target, "left_out": missing} if missing else target


def _finding(finding: Finding, detail: Detail) -> JsonObject:
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
    rows = finding.examples[: detail.examples]
    if rows:
        result["examples"] = [_row(row, detail) for row in rows]
    if rows and finding.texts:
        result["texts"] = {
            exact(key, 2 * detail.name): exact(text, detail.name)
            for key, text in list(finding.texts.items())[: len(rows) * detail.pairs]
        }
    if finding.context:
        result["context"] = _row(finding.context, detail)
    if finding.erratum is not None:
        result["erratum"] = exact(finding.erratum, detail.name)
    if finding.cause is not None:
        result["cause"] = exact(finding.cause, detail.name)
    if finding.changes:
        result["changes"] = [exact(one, detail.prose) for one in finding.changes]
    if finding.hurts:
        result["hurts"] = [exact(one, detail.prose) for one in finding.hurts]
    if finding.sql is not None:
        result["sql"] = exact(finding.sql, detail.sql)
    first = list(finding.elsewhere.items())[: detail.places]
    if first:
        result["elsewhere"] = _keyed(first, 2 * detail.name)
    return _with_left_out(
        result,
        {
            "elsewhere": len(finding.elsewhere) - len(first),
            "examples": len(finding.examples) - len(rows),
            "columns": max(0, *(len(row) - detail.pairs for row in (*rows, finding.context))),
        },
    )


def _seen(seen: Seen, detail: Detail) -> JsonObject:
    left_out: dict[str, int] = {}

    def first(name: str, entries: Iterable[Any]) -> list[Any]:
        every = list(entries)
        left_out[name] = len(every[detail.entries :])
        return every[: detail.entries]

    def texts(name: str, entries: Iterable[str]) -> list[str]:
        return [exact(text, detail.name) for text in first(name, entries)]

    stated = ("carrier", "schema_version", "revision", "product", "level")
    known = {name: getattr(seen, name) for name in stated}
    result: JsonObject = {
        **{name: text and exact(text, detail.name) for name, text in known.items()},
        "ranks": first("ranks", seen.ranks),
        "devices": first("devices", seen.devices),
        "start_ns": seen.start_ns,
        "end_ns": seen.end_ns,
        "rows_total": sum(seen.rows.values()),
        "rows": _keyed(first("rows", sorted(seen.rows.items())), detail.name),
        "coverage": {
            "exercised": seen.coverage.exercised,
            "producible": seen.coverage.producible,
            "share": round(seen.coverage.exercised / (seen.coverage.producible or 1), 6),
            "missing_tables": texts("missing_tables", seen.coverage.missing_tables),
        },
        "readings": texts("readings", seen.readings),
    }
    if seen.own is not None:
        result["own"] = exact(seen.own, detail.name)
    if seen.reasons:
        result["reasons"] = texts("reasons", seen.reasons)
    if seen.files:
        written = first("files", seen.files.items())
        named = [(file, exact(text, 2 * detail.name)) for file, text in written]
        result["files"] = _keyed(named, detail.path)
    return _with_left_out(result, left_out)


def _row(row: Mapping[str, Scalar], detail: Detail) -> JsonObject:
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
