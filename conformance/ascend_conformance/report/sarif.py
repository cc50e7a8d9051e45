"""SARIF 2.1.0 for code-scanning services and editors.

``failure`` and ``violation`` are level error, ``advice`` warning, ``note`` note. A place in a
database is a logical location (``TABLE.column``); there is no region, because a database has no
lines; in other files the region is the byte, and in text deliverables the line as well. Unreadable
files and skipped checks are notifications of the invocation.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from ascend_conformance.finding import FileReport, Finding, Report
from ascend_conformance.ruleset import Rule

from .collapse import Listed, listed, sort_key
from .detail import Detail, Rules
from .escape import LINE_WIDTH, JsonObject, json_text, visible
from .phrases import LEVEL, counted
from .seen_lines import seen_lines
from .sentences import not_listed, paragraph, skipped_by_reason, unreadable

SCHEMA_URI = "https://json.schemastore.org/sarif-2.1.0.json"
# The root of a checked-out repository, in the vocabulary of the code-scanning services.
URI_BASE = "%SRCROOT%"
_DRIVE = re.compile(r"[A-Za-z]:/")


def render(report: Report, rules: Rules, detail: Detail) -> Iterator[str]:
    """A log with one run; its rules are those that found something, its artifacts all files."""
    files = listed(report, detail)
    artifacts, locations = _artifacts([one.file for one in files], detail)
    located = sorted(
        (
            (finding, location)
            for one, location in zip(files, locations, strict=True)
            for finding in one.findings
        ),
        key=lambda pair: sort_key(pair[0]),
    )
    first = {finding.rule: finding for finding, _ in reversed(located)}
    indexes = {name: index for index, name in enumerate(sorted(first))}
    driver = {
        "name": "ascend-ref",
        "version": report.tool_version,
        "rules": [_descriptor(first[name], rules.get(name), detail) for name in indexes],
    }
    invocation = {
        "executionSuccessful": all(one.file.is_judged for one in files),
        "toolExecutionNotifications": [
            notification for one in files for notification in _notifications(one, detail)
        ],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "artifacts": artifacts,
        "results": [
            _result(finding, indexes[finding.rule], location, detail)
            for finding, location in located
        ],
        "properties": {"reading": report.reading},
    }
    log = {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}
    yield json_text(log, LINE_WIDTH) + "\n"


def artifact_location(path: str) -> JsonObject:
    """Relative to the repository, or an absolute URI where the path is absolute."""
    slashed = path.replace(os.sep, "/")
    if slashed.startswith("/"):
        return {"uri": f"file://{_quoted(slashed)}"}
    if _DRIVE.match(slashed):
        return {"uri": f"file:///{slashed[:2]}{_quoted(slashed[2:])}"}
    return {"uri": _quoted(slashed.removeprefix("./")), "uriBaseId": URI_BASE}


def _quoted(path: str) -> str:
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = path.encode("utf-8", "surrogatepass")
    return quote(raw)


def _descriptor(finding: Finding, rule: Rule[Any] | None, detail: Detail) -> JsonObject:
    descriptor: JsonObject = {
        "id": visible(finding.rule, detail.name),
        "name": visible(finding.name, detail.name),
        "defaultConfiguration": {"level": LEVEL[rule.verdict if rule else finding.verdict]},
    }
    if rule:
        descriptor["shortDescription"] = _message(visible(rule.summary, detail.prose))
    if rule and detail.guidance:
        why, fix = visible(rule.why, detail.prose), visible(rule.fix, detail.prose)
        descriptor["fullDescription"] = _message(why)
        descriptor["help"] = _message(f"Why: {why}\nFix: {fix}")
    return descriptor


def _result(finding: Finding, rule_index: int, artifact: JsonObject, detail: Detail) -> JsonObject:
    if finding.in_text:
        # The artifact is the folder; the finding names the file in it.
        artifact = artifact_location(finding.file[: detail.path])
    physical: JsonObject = {"artifactLocation": artifact}
    region: JsonObject = {}
    if finding.line is not None:
        region["startLine"] = finding.line
    if finding.offset is not None:
        region["byteOffset"] = finding.offset
    if region:
        physical["region"] = region
    location: JsonObject = {"physicalLocation": physical}
    if finding.place:
        location["logicalLocations"] = [_logical_location(finding, detail)]
    stable = finding.fingerprint
    properties: JsonObject = {"count": finding.count, "firstRowid": finding.first_rowid}
    if finding.erratum is not None:
        properties["erratum"] = visible(finding.erratum, detail.name)
    return {
        "ruleId": visible(finding.rule, detail.name),
        "ruleIndex": rule_index,
        "level": LEVEL[finding.verdict],
        "message": _message("\n".join(paragraph(finding, None, detail))),
        "locations": [location],
        # GitHub distinguishes alerts by primaryLocationLineHash alone.
        "partialFingerprints": {"ascendRef/v1": stable, "primaryLocationLineHash": stable},
        "properties": properties,
    }


def _logical_location(finding: Finding, detail: Detail) -> JsonObject:
    return {
        "name": visible(finding.column or finding.table or "", detail.name),
        "fullyQualifiedName": visible(finding.place, 2 * detail.name),
        "kind": "member" if finding.column else "type",
    }


def _artifacts(
    files: Sequence[FileReport], detail: Detail
) -> tuple[list[JsonObject], list[JsonObject]]:
    """The artifact objects, and for each file the location that refers to its artifact.

    Artifacts are unique: a path may be given twice, or long paths may be cut to the same text.
    """
    artifacts: list[JsonObject] = []
    locations: list[JsonObject] = []
    indexes: dict[str, int] = {}
    for file in files:
        location = artifact_location(file.file[: detail.path])
        index = indexes.setdefault(location["uri"], len(artifacts))
        if index == len(artifacts):
            properties = dict(seen_lines(file, detail))
            roles = ["analysisTarget"]
            artifacts.append({"location": location, "roles": roles, "properties": properties})
        locations.append({**location, "index": index})
    return artifacts, locations


def _notifications(one: Listed, detail: Detail) -> Iterator[JsonObject]:
    file = one.file
    path = visible(file.file, detail.path)
    if file.unreadable is not None:
        yield _notification("error", f"{path} cannot be judged: {unreadable(file, detail)}")
    if one.left_out:
        yield _notification("warning", f"{path}: {not_listed(one)}")
    groups, further = skipped_by_reason(file, detail)
    for rules, reason in groups:
        yield _notification("note", f"{path}: {rules} skipped: {reason}")
    if further:
        text = f"{path}: {counted(further, 'further reason')} of skipped rules not listed"
        yield _notification("note", text)


def _notification(level: str, text: str) -> JsonObject:
    return {"level": level, "message": _message(text)}


def _message(text: str) -> JsonObject:
    """A message string: braces are placeholders unless doubled, and ``[a](b)`` would be a link."""
    return {"text": text.replace("{", "{{").replace("}", "}}").replace("](", "] (")}
