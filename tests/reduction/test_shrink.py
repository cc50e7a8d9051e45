"""``shrink``: what is left shows the rule and nothing else, and nothing of it can be left out."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import closing
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from click.testing import CliRunner
from shrink_profiles import simulated

from ascend_conformance.check import check
from ascend_conformance.cli.shrink import shrink as shrink_verb
from ascend_conformance.damage import damage
from ascend_conformance.engine.failure import Failures
from ascend_conformance.media import load_rules
from ascend_conformance.media.text.database import open_facts
from ascend_conformance.reduction.shrink import NotShown, Shrunk, shrink
from ascend_conformance.reduction.sought import ByCommand, ByRule, Seed, Sought, Verdict

STEPS = 53
"""Of a network of 192 tasks each: 10,176 tasks."""

LINE = "import pathlib, sys; sys.exit('needle' not in pathlib.Path(sys.argv[1]).read_text())"


def prints(path: Path) -> dict[str, str]:
    return {
        str(one): sha256(one.read_bytes()).hexdigest() for one in path.rglob("*") if one.is_file()
    }


def shown(path: Path) -> set[str]:
    return {one.rule for one in check([path]).findings}


def shrunk(profile: Path, rule: str, folder: Path) -> Shrunk:
    """The smallest of a copy of a profile with the fault of a rule."""
    damaged = damage(profile, load_rules()[rule], folder / "damaged").profile
    before = prints(damaged)
    done = shrink(damaged, ByRule(load_rules()[rule], None), folder / "small")
    assert prints(damaged) == before
    assert done.profile == folder / "small" / profile.name
    assert {one.name for one in folder.iterdir()} == {"damaged", "small"}
    assert not list((folder / "small").glob(".*"))
    return done


RULES = {
    "db": (
        *("DB110", "DB123", "DB203", "DB209", "DB309", "DB322", "DB324", "DB403", "DB411", "DB413"),
        *("DB506", "DB755", "LOS205", "LOS207", "REL205", "REL405", "REL612", "REL621"),
    ),
    "text": (
        *("CSV024", "CSV026", "CSV030", "CSV245", "CSV281", "CSV352", "CSV353", "CSV419", "REL721"),
        "XLR201",
    ),
    "timeline": (
        *("TRC004", "TRC014", "TRC200", "TRC201", "TRC220", "TRC222", "TRC223", "TRC230", "TRC282"),
        *("TRC283", "TRC322", "TRC330", "TRC361"),
    ),
    "run": ("XLR501",),
}
"""One defect each, of one row or of several that disagree, in one file or in two; with TRC330 one
of half of the rows.
"""

AS_WELL = {
    "CSV024": {"CSV281"},
    "LOS207": {"DB753"},
    "TRC201": {"TRC323"},
    "TRC222": {"TRC230"},
    "XLR501": {"TRC202"},
}
"""What the same defect breaks as well: a time below 0 contradicts the sum of its row, calls that
cross have one number, an arrow whose end is elsewhere has another number than the work there, and
an operator moved to a thread that nothing else is in stands where no thread has a name.
"""


MOST_ROWS = {
    **{"DB324": 29, "DB413": 13, "REL205": 25, "REL405": 15, "REL612": 11, "REL621": 12},
    **{"CSV281": 33, "TRC223": 13, "TRC283": 14, "XLR501": 14},
}
"""With texts and metadata. A database has a row of each of five tables, and a timeline three events
for each layer; a kernel needs its task, two calls and 14 texts, and an event of the graph engine
three.
"""

MOST_RECORDED = {"CSV281": 33}
"""Without texts and metadata. The shares of all types of operators together are 100 %."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    return simulated(tmp_path_factory.mktemp("made"), "cnn-910b", STEPS)


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("kind", "rule"), [(kind, rule) for kind, rules in RULES.items() for rule in rules]
)
def test_ten_thousand_tasks_become_a_few_rows(
    kind: str, rule: str, made: Mapping[str, Path], tmp_path: Path
) -> None:
    done = shrunk(made[kind], rule, tmp_path)
    assert done.rows[0] > 10_000
    assert done.rows[1] <= MOST_ROWS.get(rule, 10)
    assert done.rows[1] - done.metadata <= MOST_RECORDED.get(rule, 10)
    assert not done.is_stopped
    assert set(done.others) == AS_WELL.get(rule, set())
    assert shown(done.profile) == {rule, *done.others}


@pytest.mark.exhaustive
def test_what_the_rows_of_a_finding_refer_to_is_enough(tmp_path: Path) -> None:
    profiles = simulated(tmp_path / "made", "cnn-910b", 1)
    (tmp_path / "out").mkdir()
    done = shrunk(profiles["timeline"], "TRC200", tmp_path / "out")
    assert done.rows[1] <= 5 < done.rows[0]
    assert done.checks <= 40
    assert done.others == []
    assert shown(done.profile) == {"TRC200"}


class Needs(Sought):
    """A row ``needle``, and rules that ``broken`` finds broken in a text.

    Only a judgement by all rules shows what is not forbidden yet, as on large copies.
    ``points``: the row that the finding of a rule points at.
    """

    missed = "no needle"

    def __init__(
        self, broken: Callable[[str], set[str]], points: Mapping[str, str] | None = None
    ) -> None:
        self._broken = broken
        self._points = points or {}
        self._forbidden: Set[str] = frozenset()
        self.asked: list[str] = []

    def verdict(self, copy: Path) -> Verdict | None:
        text = copy.read_text() if copy.exists() else ""
        self.asked.append(text)
        found = self._judged(text, self._broken(text) & self._forbidden, is_all=False)
        return found if "needle" in text else None

    def verdict_of_all(self, copy: Path) -> Verdict:
        text = copy.read_text()
        return self._judged(text, self._broken(text), is_all=True)

    def _judged(self, text: str, broken: Set[str], *, is_all: bool) -> Verdict:
        rows = [self._points[one] for one in sorted(broken & self._points.keys())]
        seeds = [Seed(Path(), None, text.index(one)) for one in rows]
        return Verdict(dict.fromkeys(broken, ""), is_all, seeds)

    def seeds(self) -> list[Seed]:
        return [Seed(Path(), None, self.asked[0].index("needle"))]

    def forbid(self, rules: Set[str]) -> None:
        self._forbidden |= rules

    def tolerate(self, rules: Set[str]) -> None:
        self._forbidden -= rules
        self.tolerated |= rules

    def broken_in(self, copy: Path) -> Set[str]:
        return self._forbidden & self._broken(copy.read_text())


def test_what_a_copy_breaks_that_the_profile_does_not_is_repaired(tmp_path: Path) -> None:
    """The friend is one of 500 rows that nothing names, and is found all the same."""
    path = many_lines(tmp_path / "in")
    path.write_text(path.read_text().replace("op7,", "friend,"))
    done = shrink(path, Needs(lambda text: set() if "friend" in text else {"R1"}), tmp_path / "out")
    assert done.profile.read_text() == "API Name,Count\nfriend,7\nneedle,321\n"
    assert done.others == []
    assert done.checks < 80


def test_a_way_to_a_clean_copy_leads_through_copies_that_break_other_rules(tmp_path: Path) -> None:
    """Each row needs the one before it, and breaks a rule of its own without."""
    rows = ["needle", "op320,", "op319,", "op318,"]

    def broken(text: str) -> set[str]:
        missing = [before for row, before in pairwise(rows) if row in text and before not in text]
        return {f"R{rows.index(one)}" for one in missing}

    points = {f"R{place + 1}": row for place, row in enumerate(rows[:-1])}
    done = shrink(many_lines(tmp_path / "in"), Needs(broken, points), tmp_path / "out")
    found = done.profile.read_text().splitlines()[1:]
    assert found == ["op318,318", "op319,319", "op320,320", "needle,321"]
    assert done.others == []
    assert done.checks < 60


def test_what_the_profile_breaks_as_well_is_tolerated_only_where_it_has_to_be(
    tmp_path: Path,
) -> None:
    path = many_lines(tmp_path / "in")

    def broken(text: str) -> set[str]:
        return {rule for rule, row in (("R1", "needle"), ("R2", "op7,")) if row in text}

    done = shrink(path, Needs(broken), tmp_path / "out")
    assert done.profile.read_text() == "API Name,Count\nneedle,321\n"
    assert done.others == ["R1"]
    assert done.checks < 20


class Holds(Sought):
    """Something that the events of a timeline show, and nothing else."""

    missed = "nothing"

    def __init__(self, holds: Callable[[list[dict[str, Any]]], bool]) -> None:
        self._holds = holds

    def verdict(self, copy: Path) -> Verdict | None:
        is_shown = copy.exists() and self._holds(json.loads(copy.read_text()))
        return Verdict({}, is_all=True) if is_shown else None

    def tolerate(self, rules: Set[str]) -> None:
        assert not rules


def slices(names: str) -> list[dict[str, Any]]:
    """A slice of a thread each microsecond."""
    return [
        {"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": str(at), "dur": 1}
        for at, name in enumerate(names)
    ]


def left_of(events: list[dict[str, Any]], sought: Sought, folder: Path) -> list[dict[str, Any]]:
    """The fewest events of a timeline that still show something."""
    path = folder / "trace_view.json"
    path.write_text(json.dumps(events))
    found: list[dict[str, Any]] = json.loads(
        shrink(path, sought, folder / "out").profile.read_text()
    )
    return found


def test_what_other_events_refer_to_stays_while_they_are_taken_apart(tmp_path: Path) -> None:
    """Slices on both sides of a border and without a gap, in a process that has a name."""
    name = {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "Python"}}
    every = slices("a" * 150 + "b" * 150)

    def holds(events: list[dict[str, Any]]) -> bool:
        times = [int(one["ts"]) for one in events if one["ph"] == "X"]
        named = "".join(one["name"] for one in events if one["ph"] == "X")
        is_whole = times == [*range(times[0], times[-1] + 1)] if times else False
        return name in events and is_whole and 0 < named.count("a") <= named.count("b")

    assert left_of([*every, name], Holds(holds), tmp_path) == [every[149], every[150], name]


def test_both_ends_of_an_arrow_are_left_out_together(tmp_path: Path) -> None:
    """Not with the slices that they stand at, which are needed."""
    first, _, last = every = slices("a-z")
    ends = [
        {"ph": phase, "name": "x", "cat": "x", "id": 7, "pid": 1, "tid": 1, "ts": one["ts"]}
        for phase, one in (("s", first), ("f", last))
    ]

    def holds(events: list[dict[str, Any]]) -> bool:
        are_alike = (ends[0] in events) == (ends[1] in events)
        return first in events and last in events and are_alike

    assert left_of([first, ends[0], *every[1:], ends[1]], Holds(holds), tmp_path) == [first, last]


def test_findings_name_what_their_examples_show(tmp_path: Path) -> None:
    """A layer that is absent stands in no other words of LOS306."""
    profile = simulated(tmp_path / "made", "single-op", 1)["timeline"]
    path = profile / "trace_view.json"
    events = json.loads(path.read_text())
    (layer,) = {
        one["pid"] for one in events if one.get("args", {}).get("name") == "Overlap Analysis"
    }
    path.write_text(json.dumps([one for one in events if one["pid"] != layer]))
    others = ByRule(load_rules()["TRC200"], None).verdict_of_all(profile).others
    (words,) = [words for name, words in others.items() if name.startswith("LOS306")]
    assert "overlap-analysis" in words


def without_each_row(database: Path, copy: Path) -> Iterator[Path]:
    """The database without each single row; a table without rows goes with its last one."""
    with closing(sqlite3.connect(database)) as connection:
        tables = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            if not name.startswith("ENUM_")
        ]
        rows = {name: connection.execute(f"SELECT rowid FROM {name}").fetchall() for name in tables}
    for name, rowids in rows.items():
        for rowid in rowids:
            shutil.copy(database, copy)
            with closing(sqlite3.connect(copy)) as connection:
                connection.execute(f"DELETE FROM {name} WHERE rowid = ?", rowid)
                if len(rowids) == 1:
                    connection.execute(f"DROP TABLE {name}")
                connection.commit()
            yield copy


@pytest.mark.exhaustive
def test_no_row_of_a_database_can_be_left_out(tmp_path: Path) -> None:
    profiles = simulated(tmp_path / "made", "cnn-910b", 1)
    (tmp_path / "out").mkdir()
    done = shrunk(profiles["db"], "DB403", tmp_path / "out")
    (database,) = done.profile.glob("*.db")
    assert shown(database) == {"DB403"}
    fewer = list(map(shown, without_each_row(database, tmp_path / database.name)))
    assert len(fewer) == done.rows[1]
    assert {"DB403"} not in fewer


# --- commands, and the verb -----------------------------------------------------------------------


def many_lines(folder: Path) -> Path:
    folder.mkdir()
    lines = [f"op{at},{at}" for at in range(500)]
    lines[321] = "needle,321"
    (folder / "api_statistic.csv").write_text("\n".join(["API Name,Count", *lines]) + "\n")
    return folder / "api_statistic.csv"


def test_a_command_is_asked_and_ends_with_0(tmp_path: Path) -> None:
    path = many_lines(tmp_path / "in")
    command = ByCommand(f'"{sys.executable}" -c "{LINE}"')
    done = shrink(path, command, tmp_path / "out")
    assert done.rows == (500, 1)
    assert done.checks < 60
    assert done.profile.read_text() == "API Name,Count\nneedle,321\n"


def test_the_verb_states_what_is_left(tmp_path: Path) -> None:
    path = many_lines(tmp_path / "in")
    words = [str(path), "--command", f'"{sys.executable}" -c "{LINE}" {{}}', "-o"]
    result = CliRunner().invoke(shrink_verb, [*words, str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("500 → 1 rows, 1 → 1 files; the command still ends with exit")
    again = CliRunner().invoke(shrink_verb, [*words, str(tmp_path / "out")])
    assert again.exit_code == 2
    assert "exists already; --force replaces it" in again.output


def test_the_verb_states_how_many_rows_are_metadata(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    name = {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "needle"}}
    path.write_text(json.dumps([*slices("abc"), name]))
    words = [str(path), "--command", f'"{sys.executable}" -c "{LINE}"', "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(shrink_verb, words)
    assert result.exit_code == 0, result.output
    assert result.output.startswith("4 → 1 rows, 1 of them texts and metadata, 1 → 1 files; ")


def test_a_search_that_is_stopped_writes_the_smallest_so_far(tmp_path: Path) -> None:
    path = many_lines(tmp_path / "in")
    words = ["--command", f'"{sys.executable}" -c "{LINE}"', "--max-checks", "5"]
    out = tmp_path / "out"
    result = CliRunner().invoke(shrink_verb, [str(path), *words, "-o", str(out)])
    assert result.exit_code == 0
    assert "not the smallest: --max-checks" in result.output
    left = len((out / path.name).read_bytes().splitlines())
    assert 2 < left < len(path.read_bytes().splitlines())
    assert f" → {left - 1} rows" in result.output


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "expected either --rule or --command"),
        (["--rule", "DB403", "--command", "true"], "expected either --rule or --command"),
        (["--rule", "DB9999"], "unknown rule"),
        (["--command", "it's"], "No closing quotation"),
    ],
)
def test_what_is_not_asked_well_is_refused(given: list[str], words: str, tmp_path: Path) -> None:
    path = many_lines(tmp_path / "in")
    result = CliRunner().invoke(shrink_verb, [str(path), *given, "-o", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert words in result.output
    assert not (tmp_path / "out").exists()


def test_what_is_not_shown_leaves_nothing(tmp_path: Path) -> None:
    path = many_lines(tmp_path / "in")
    for sought in (ByRule(load_rules()["CSV241"], None), ByCommand(f"{sys.executable} -c exit(1)")):
        with pytest.raises(NotShown, match=r"api_statistic\.csv: .* expected a "):
            shrink(path, sought, tmp_path / "out")
    assert [one.name for one in tmp_path.iterdir()] == ["in"]


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    path = many_lines(tmp_path / "in")

    def interrupt(done: int, total: int, what: str) -> None:
        if done > 100:
            raise KeyboardInterrupt

    stop: Callable[[int, int, str], None] = interrupt
    with pytest.raises(KeyboardInterrupt):
        shrink(path, ByCommand(f'"{sys.executable}" -c "{LINE}"'), tmp_path / "out", stop)
    assert [one.name for one in tmp_path.iterdir()] == ["in"]


def test_a_signal_during_a_query_ends_the_search(tmp_path: Path) -> None:
    """DuckDB makes an error of the exception of a signal, which is none of the rule."""

    class Endless(ByCommand):
        def verdict(self, copy: Path) -> None:
            del copy
            with open_facts() as facts, Failures().of_rule(load_rules()["TRC200"]):
                timer = Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
                timer.start()
                many = "range(1000000000) a, range(1000) b"
                facts.rows(f"SELECT count(*) FROM {many} WHERE a + b < 0")

    with pytest.raises(KeyboardInterrupt):
        shrink(many_lines(tmp_path / "in"), Endless("true"), tmp_path / "out")
    assert [one.name for one in tmp_path.iterdir()] == ["in"]
