"""SARIF 2.1.0: the constraints of its schema and prose that this report depends on."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given, settings
from report_samples import (
    FULL_REPORT,
    INTERVAL,
    INTERVAL_RULE,
    RULES,
    UNREADABLE_REPORT,
    VIEWER,
    file_report,
    one_report,
    reports,
)

from ascend_conformance.finding import Report
from ascend_conformance.report import FORMATS
from ascend_conformance.report.sarif import artifact_location

# RFC 3986: unreserved characters, "/" and percent escapes; a relative reference has no ":".
RELATIVE_URI = re.compile(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})*")
ABSOLUTE_URI = re.compile(r"file:///(?:[A-Za-z]:)?(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})*")
LEVELS = {"none", "note", "warning", "error"}
ALLOWED: Mapping[str, set[str]] = {
    "log": {"$schema", "version", "runs"},
    "run": {"tool", "invocations", "artifacts", "results", "properties"},
    "driver": {"name", "version", "rules"},
    "rule": {
        "id",
        "name",
        "shortDescription",
        "fullDescription",
        "help",
        "helpUri",
        "defaultConfiguration",
    },
    "result": {
        "ruleId",
        "ruleIndex",
        "level",
        "message",
        "locations",
        "partialFingerprints",
        "properties",
    },
    "artifact": {"location", "roles", "properties"},
    "artifactLocation": {"uri", "uriBaseId", "index"},
    "location": {"physicalLocation", "logicalLocations"},
    "logicalLocation": {"name", "fullyQualifiedName", "kind"},
    "notification": {"level", "message"},
}


def run_of(report: Report) -> Any:
    log = json.loads(FORMATS["sarif"](report, RULES))
    assert log.keys() == ALLOWED["log"]
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    return run


def check_message(message: Any) -> None:
    """Only text, its braces doubled, no link in it."""
    assert message.keys() == {"text"}
    assert isinstance(message["text"], str)
    assert not re.search(r"[{}]", message["text"].replace("{{", "").replace("}}", ""))
    assert "](" not in message["text"]


def check_artifact_location(location: Any, run: Any) -> None:
    assert location.keys() <= ALLOWED["artifactLocation"]
    if "uriBaseId" in location:
        assert RELATIVE_URI.fullmatch(location["uri"])
        assert not location["uri"].startswith("/")
    else:
        assert ABSOLUTE_URI.fullmatch(location["uri"])
    if "index" in location:
        cached = run["artifacts"][location["index"]]["location"]
        assert cached == {key: value for key, value in location.items() if key != "index"}


def check_run(run: Any) -> None:
    assert run.keys() == ALLOWED["run"]
    driver = run["tool"]["driver"]
    assert driver.keys() == ALLOWED["driver"]
    rules = driver["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for rule in rules:
        check_rule(rule)
    locations = [artifact["location"]["uri"] for artifact in run["artifacts"]]
    assert len(set(locations)) == len(locations)
    for artifact in run["artifacts"]:
        assert artifact.keys() == ALLOWED["artifact"]
        check_artifact_location(artifact["location"], run)
    for result in run["results"]:
        check_result(result, run)
    (invocation,) = run["invocations"]
    assert isinstance(invocation["executionSuccessful"], bool)
    for notification in invocation["toolExecutionNotifications"]:
        assert notification.keys() == ALLOWED["notification"]
        assert notification["level"] in LEVELS
        check_message(notification["message"])


def check_rule(rule: Any) -> None:
    assert rule.keys() <= ALLOWED["rule"]
    assert rule["defaultConfiguration"]["level"] in LEVELS
    for text in rule.keys() & {"shortDescription", "fullDescription", "help"}:
        check_message(rule[text])


def check_result(result: Any, run: Any) -> None:
    assert result.keys() == ALLOWED["result"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["level"] in LEVELS
    check_message(result["message"])
    assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
    (location,) = result["locations"]
    assert location.keys() <= ALLOWED["location"]
    # A region would be an invented line.
    assert location["physicalLocation"].keys() == {"artifactLocation"}
    check_artifact_location(location["physicalLocation"]["artifactLocation"], run)
    for logical in location.get("logicalLocations", ()):
        assert logical.keys() == ALLOWED["logicalLocation"]


def test_a_result_points_at_its_rule_file_and_column() -> None:
    result = run_of(FULL_REPORT)["results"][0]
    assert result == {
        "ruleId": "DB401",
        "ruleIndex": 1,
        "level": "error",
        "message": {
            "text": "An interval ends before it starts: 2 of 12,000 rows (first: rowid 88)\n"
            "expected: endNs >= startNs\n"
            "example: row=88 startNs=2000 endNs=1000\n"
            "example: row=90 startNs=NULL"
        },
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {
                        "uri": "run/ascend_pytorch_profiler_1.db",
                        "uriBaseId": "%SRCROOT%",
                        "index": 0,
                    }
                },
                "logicalLocations": [
                    {"name": "endNs", "fullyQualifiedName": "TASK.endNs", "kind": "member"}
                ],
            }
        ],
        "partialFingerprints": {
            "ascendRef/v1": INTERVAL.fingerprint,
            "primaryLocationLineHash": INTERVAL.fingerprint,
        },
        "properties": {"count": 2, "firstRowid": 88},
    }


def test_a_rule_carries_its_help() -> None:
    rules = run_of(FULL_REPORT)["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["DB006", "DB401", "DB420"]
    assert rules[1] == {
        "id": "DB401",
        "name": "interval-ends-before-start",
        "defaultConfiguration": {"level": "error"},
        "shortDescription": {"text": INTERVAL_RULE.summary},
        "fullDescription": {"text": INTERVAL_RULE.why},
        "help": {"text": f"Why: {INTERVAL_RULE.why}\nFix: {INTERVAL_RULE.fix}"},
    }


def test_levels_follow_the_verdicts() -> None:
    levels = [result["level"] for result in run_of(FULL_REPORT)["results"]]
    assert levels == ["error", "warning", "note"]


def test_fingerprints_survive_new_counts_rows_and_folders() -> None:
    moved = replace(INTERVAL, file="elsewhere/ascend_pytorch_profiler_1.db", count=9, first_rowid=1)
    before, after = (
        run_of(one_report(file_report(finding, file=finding.file)))["results"][0]
        for finding in (INTERVAL, moved)
    )
    assert before["partialFingerprints"] == after["partialFingerprints"]


def test_a_finding_of_the_whole_file_has_no_logical_location() -> None:
    (result,) = run_of(one_report(file_report(VIEWER)))["results"]
    assert "logicalLocations" not in result["locations"][0]


def test_skipped_checks_and_unreadable_files_are_notifications() -> None:
    def notifications(report: Report) -> list[tuple[str, str]]:
        (invocation,) = run_of(report)["invocations"]
        found = invocation["toolExecutionNotifications"]
        return [(one["level"], one["message"]["text"]) for one in found]

    assert notifications(FULL_REPORT) == [
        ("note", "run/ascend_pytorch_profiler_1.db: DB301, DB302 skipped: table NIC is absent")
    ]
    assert notifications(UNREADABLE_REPORT) == [
        ("error", "a.db cannot be judged: file is not a database")
    ]
    assert not run_of(UNREADABLE_REPORT)["invocations"][0]["executionSuccessful"]


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a b/100%.db", "a%20b/100%25.db"),
        ("a:b?c#d.db", "a%3Ab%3Fc%23d.db"),
        ("./x.db", "x.db"),
        ("\u6f22.db", "%E6%BC%A2.db"),
        ("../x.db", "../x.db"),
        ("/data/x.db", "file:///data/x.db"),
        ("C:/data/x.db", "file:///C:/data/x.db"),
    ],
)
def test_paths_become_uris(path: str, uri: str) -> None:
    assert artifact_location(path)["uri"] == uri


def test_a_path_that_is_not_unicode_keeps_its_bytes() -> None:
    assert unquote_to_bytes(artifact_location("\udcff.db")["uri"]) == b"\xff.db"


@settings(max_examples=27, deadline=None)
@given(reports())
def test_every_log_keeps_the_constraints(report: Report) -> None:
    check_run(run_of(report))
