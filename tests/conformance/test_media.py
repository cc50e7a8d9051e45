"""A medium of one's own: it registers, and gets checks, reports, pages and its place in the rules.

It judges logs: text files of one entry per line, ``<ns> <event>``.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ascend_conformance.check import check
from ascend_conformance.discover import discover
from ascend_conformance.engine.candidate import Candidate, Listing
from ascend_conformance.engine.progress import Progress
from ascend_conformance.engine.trials import Trial, Trials
from ascend_conformance.finding import Coverage, FileReport, Finding, Seen
from ascend_conformance.media import (
    Described,
    Judged,
    Medium,
    SelfTest,
    load_rules,
    media,
    register,
    withdraw,
)
from ascend_conformance.media.bin.selftest import clean_file
from ascend_conformance.options import Options
from ascend_conformance.pages import rule_page
from ascend_conformance.ruleset import Rule, rule_of
from ascend_ref.markdown import Style

RULE: Mapping[str, Any] = {
    "rule": "LOG001",
    "name": "time-goes-back",
    "verdict": "violation",
    "grade": "inferred",
    "summary": "An entry is older than the one before it.",
    "why": "Readers stop at it.",
    "fix": "Sort the entries.",
    "example": "7 after 9",
    "source": ["inference"],
    "expected": "ascending times",
    "break": ["swap the last two lines"],
}


class Logs(Medium):
    name = "log"
    given = ("*.log",)
    specimens = ("log",)

    def rules(self) -> Mapping[str, Rule[str]]:
        return {"LOG001": rule_of(RULE, "log", self.name, "lag")}

    def is_named(self, name: str) -> bool:
        return name.endswith(".log")

    def recognise(self, path: Path, listing: Listing) -> Candidate | None:
        is_log = path.suffix == ".log" and path.is_file()
        return Candidate(self.name, path) if is_log else None

    def judge(self, candidate: Candidate, options: Options, progress: Progress | None) -> Judged:
        lines = candidate.path.read_text().splitlines()
        seen = Seen(carrier="log", revision="1", rows={}, coverage=Coverage(1, 1))
        found = tuple(self.findings(candidate.label, lines))
        return FileReport(candidate.label, seen, found, rules_run=1), [(candidate.label, lines)]

    def findings(self, label: str, lines: Sequence[str]) -> Iterator[Finding]:
        times = [int(line.split()[0]) for line in lines]
        for number, (before, time) in enumerate(pairwise(times), start=2):
            if time < before:
                rule = self.rules()["LOG001"]
                message = f"line {number}: {time} after {before}"
                yield Finding(
                    rule.id, rule.name, rule.verdict, label, message, rule.expected, line=number
                )

    def compare(self, facts: Sequence[Any], options: Options) -> Mapping[str, Sequence[Finding]]:
        return {}

    def self_test(self, wanted: SelfTest) -> Trials:
        fired = tuple(one.rule for one in self.findings("", ["9 a", "7 b"]))
        return Trials([Trial("log", "LOG001", fired=fired)])

    def describe(self, rule: Rule[Any], style: Style) -> Described:
        return Described("every entry", "By comparing neighbours.", rule.breaks)


@pytest.fixture
def logs() -> Iterator[Logs]:
    medium = Logs()
    register(medium)
    yield medium
    withdraw(medium)


def test_a_registered_medium_is_searched_for_and_judged(logs: Logs, tmp_path: Path):
    (tmp_path / "a.log").write_text("9 start\n7 end\n")
    (tmp_path / "b.log").write_text("7 start\n9 end\n")
    assert [one.medium for one in discover(tmp_path)] == ["log", "log"]
    report = check([tmp_path])
    assert [(one.rule, one.message) for one in report.findings] == [("LOG001", "line 2: 7 after 9")]
    assert load_rules()["LOG001"].fix == "Sort the entries."


def test_it_fails_for_its_file_alone(logs: Logs, tmp_path: Path):
    (tmp_path / "a.log").write_text("nine start\n")
    (tmp_path / "b.log").write_text("9 start\n7 end\n")
    report = check([tmp_path])
    assert [one.rule for one in report.findings] == ["REF002", "LOG001"]


def test_its_rules_have_pages_and_a_self_test(logs: Logs):
    text = rule_page(load_rules()["LOG001"])
    for part in ("# LOG001 time-goes-back", "every entry", "By comparing", "swap the last two"):
        assert part in text
    result = media()["log"].self_test(SelfTest(("log",)))
    assert result.passed
    assert len(result.mutations) == 1


def test_a_name_is_registered_once(logs: Logs):
    for name in ("log", "db", "any"):
        with pytest.raises(ValueError, match=f"there is a medium {name} already"):
            register(type("Other", (Logs,), {"name": name})())


def test_without_it_nothing_is_left():
    assert "log" not in media()
    assert "LOG001" not in load_rules()


def test_many_databases_of_a_folder_are_found_in_one_listing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for number in range(40):
        (tmp_path / f"ascend_pytorch_profiler_{number}.db").write_bytes(b"x")
    (tmp_path / "analysis.db").write_bytes(b"x")
    listed: list[Path] = []
    plain = os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: [listed.append(Path(path)), plain(path)][1])
    found = discover(tmp_path)
    assert len(found) == 41
    assert listed.count(tmp_path) == 1
    first, second = (one.details.companions for one in found[:2])
    assert first["pytorch"].name == "ascend_pytorch_profiler_0.db"
    assert second["pytorch"].name == "ascend_pytorch_profiler_1.db"
    assert second["analysis"].name == "analysis.db"


@pytest.mark.parametrize("name", ["msprof_1.db", "visualize_data.bin", "op_statistic_1.csv"])
def test_candidates_go_to_other_processes(name: str, tmp_path: Path):
    path = tmp_path / name
    path.write_bytes(clean_file("vector") if name.endswith(".bin") else b"Model Name,OP Type\n")
    (found,) = discover(tmp_path)
    sent = pickle.loads(pickle.dumps(found.anywhere()))  # noqa: S301
    assert (sent.medium, sent.label) == (found.medium, found.label)
