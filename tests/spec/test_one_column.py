"""One column, one file: a few lines in a draft, and every verb knows them.

The draft has one more column in a table, one in a CSV file and one arg of a timeline event, a
table, an enum and a member of another, and a revision of its own. Nothing else changes.
"""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from slices import marked

from ascend_conformance.check import check
from ascend_conformance.media.db.selftest import batches, run_batch
from ascend_conformance.media.text.rules import load_text_rules
from ascend_conformance.media.text.selftest import open_specimen, run_subject
from ascend_ref.cli import main
from ascend_ref.tools.spec.site import spec_pages, spec_targets
from ascend_spec import load_spec, using

NEW, OLD = "1.9.0-draft", "1.2.0-2026-07"
STREAM = {"table": "streamId", "csv": "Stream ID", "arg": "Physic Stream Id"}
"""What already shows the stream of a task, which the additions show too."""
ADDED = {"table": "queueOf", "csv": "Queue Of", "arg": "Queue Of"}
DRAFT = """
revision/1.9.0-draft:
  {schema_version: 1.9.0, date: "2026-12-01", grade: inferred, summary: A draft.}
column/TASK.queueOf:
  {after: taskId, type: streamId, shows: task.stream, source: [upstream-msprof TASK],
    summary: Queue of the task.}
header/op_summary/Queue Of:
  {after: Task ID, type: streamId, shows: task.stream, sentinels: [N/A], summary: Its queue.}
argument/Ascend Hardware/task/Queue Of:
  {after: Task Type, type: streamId, shows: task.stream, summary: Queue of the task.}
"""
FURTHER = """
table/QUEUE_USAGE:
  summary: Fill of each queue, sampled.
  writer: msprof
  carriers: {msprof: by-switch, pytorch: by-switch}
  switches: [sys-interconnection]
  sample: timestampNs
  device: deviceId
  columns:
    deviceId: {type: deviceId, shows: {nothing: unrecorded}, summary: Device that was sampled.}
    timestampNs: {type: timestampNs, shows: {nothing: unrecorded}, summary: Time of the sample.}
    state:
      {type: enumId, references: [ENUM_QUEUE_STATE.id], shows: {nothing: unrecorded}, summary: Now.}
enum/ENUM_QUEUE_STATE:
  {summary: State of a queue., members: [{id: 0, name: EMPTY}, {id: 1, name: FULL}]}
member/ENUM_HCCL_LINK_TYPE/20: {name: QUEUE}
"""
FORMS = "pytorch-db,pytorch-text,msprof-db,csv,timeline"


@dataclass(frozen=True)
class Draft:
    """The draft, and the runs that were simulated with it, by revision."""

    spec: Path
    runs: Path

    def call(self, *arguments: object) -> int:
        return main(["--spec", str(self.spec), *map(str, arguments)])

    def files(self, revision: str, pattern: str) -> list[Path]:
        found = sorted((self.runs / revision).rglob(pattern))
        assert found
        return found


@pytest.fixture(scope="module")
def draft(tmp_path_factory: pytest.TempPathFactory) -> Draft:
    folder = tmp_path_factory.mktemp("draft")
    spec = folder / "draft"
    spec.mkdir()
    for name, text in (("columns.yaml", DRAFT), ("tables.yaml", FURTHER)):
        (spec / name).write_text(text, "utf-8")
    found = Draft(spec, folder)
    for revision in (NEW, OLD):
        place = ("--revision", revision, "--output", folder / revision, "--as", FORMS)
        assert found.call("simulate", "single-op", *place) == 0
    return found


def rows(database: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        return connection.execute(query).fetchall()


def records(file: Path) -> Iterator[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as text:
        yield from csv.DictReader(text)


def tasks(file: Path) -> list[dict[str, Any]]:
    events = json.loads(file.read_text("utf-8"))
    return [event["args"] for event in events if "Subtask Id" in event.get("args", {})]


def test_a_table_holds_the_column_at_its_revision_alone(draft: Draft) -> None:
    for database in draft.files(NEW, "msprof_*.db") + draft.files(NEW, "ascend_pytorch_*.db"):
        found = rows(database, "SELECT queueOf, streamId FROM TASK")
        assert found
        assert all(queue == stream for queue, stream in found)
        states = rows(database, "SELECT id, name FROM ENUM_QUEUE_STATE ORDER BY id")
        assert states == [(0, "EMPTY"), (1, "FULL")]
        links = rows(database, "SELECT name FROM ENUM_HCCL_LINK_TYPE WHERE id = 20")
        assert links == [("QUEUE",)]
    for database in draft.files(OLD, "*.db"):
        columns = rows(database, "SELECT name FROM pragma_table_info('TASK')")
        assert ("queueOf",) not in columns
        assert b"QUEUE" not in database.read_bytes()


@pytest.mark.parametrize("revision", [NEW, OLD])
def test_csv_files_and_timelines_show_the_column_at_every_revision(
    draft: Draft, revision: str
) -> None:
    (summary,) = draft.files(revision, "op_summary_*.csv")
    found = list(records(summary))
    assert found
    assert [row[ADDED["csv"]] for row in found] == [row[STREAM["csv"]] for row in found]
    for name in ("msprof_2*.json", "trace_view.json"):
        (timeline,) = draft.files(revision, name)
        shown = [args for args in tasks(timeline) if ADDED["arg"] in args]
        assert shown
        assert all(args[ADDED["arg"]] == args[STREAM["arg"]] for args in shown)


@pytest.mark.parametrize("revision", [NEW, marked(OLD, pytest.mark.exhaustive)])
def test_what_was_simulated_conforms(
    draft: Draft, revision: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (prof,) = (path.parent for path in draft.files(revision, "msprof_*.db"))
    assert draft.call("check", prof) == 0, capsys.readouterr().out


def spoil_database(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE TASK SET queueOf = -5")


def spoil_csv(file: Path) -> None:
    lines = [line.split(",") for line in file.read_text("utf-8").splitlines()]
    lines[1][lines[0].index(ADDED["csv"])] = "three"
    file.write_text("".join(",".join(line) + "\n" for line in lines), "utf-8")


def spoil_timeline(file: Path) -> None:
    events = json.loads(file.read_text("utf-8"))
    next(one for one in events if ADDED["arg"] in one.get("args", {}))["args"][ADDED["arg"]] = "x"
    file.write_text(json.dumps(events), "utf-8")


@pytest.mark.parametrize(
    ("pattern", "spoil", "rule", "place"),
    [
        ("msprof_*.db", spoil_database, "DB203", "TASK.queueOf"),
        ("op_summary_*.csv", spoil_csv, "CSV020", "op_summary.csv: Queue Of"),
        ("msprof_2*.json", spoil_timeline, "TRC015", "Ascend Hardware: Queue Of"),
    ],
)
def test_a_bad_value_of_the_column_is_found(
    draft: Draft, pattern: str, spoil: Callable[[Path], None], rule: str, place: str, tmp_path: Path
) -> None:
    (sound,) = draft.files(NEW, pattern)
    bad = tmp_path / sound.name
    bad.write_bytes(sound.read_bytes())
    spoil(bad)
    with using(load_spec(draft.spec)):
        found = check([bad]).findings
    assert [(one.rule, one.count) for one in found if place in one.place] == [(rule, ANY)], found


@pytest.mark.parametrize("carrier", ["pytorch", "msprof"])
def test_a_specimen_has_the_column_and_conforms(draft: Draft, carrier: str, tmp_path: Path) -> None:
    options = ("-o", tmp_path / "new", "--carrier", carrier, "--ranks", "1")
    assert draft.call("specimen", *options) == 0
    (database,) = (one for one in (tmp_path / "new").rglob("*.db") if one.name != "analysis.db")
    assert rows(database, "SELECT count(*) FROM TASK WHERE queueOf <> streamId") == [(0,)]
    held = (
        "SELECT count(*) > 0 FROM QUEUE_USAGE JOIN ENUM_QUEUE_STATE AS states ON states.id = state"
    )
    assert rows(database, held) == [(1,)]
    assert draft.call("check", tmp_path / "new") == 0


def test_an_export_of_the_database_has_the_columns(draft: Draft, tmp_path: Path) -> None:
    (database,) = draft.files(NEW, "msprof_*.db")
    assert draft.call("export", database, "-o", tmp_path / "text") == 0
    (summary,) = (tmp_path / "text").rglob("op_summary_*.csv")
    assert all(row[ADDED["csv"]] == row[STREAM["csv"]] for row in records(summary))
    (timeline,) = (tmp_path / "text").rglob("msprof_2*.json")
    assert any(ADDED["arg"] in args for args in tasks(timeline))


@pytest.mark.parametrize(
    ("address", "form", "name"),
    [
        ("carrier/msprof", "json-schema", ADDED["table"]),
        ("carrier/pytorch", "ddl", ADDED["table"]),
        ("csv/op_summary", "json-schema", ADDED["csv"]),
        ("layer/Ascend Hardware", "json-schema", ADDED["arg"]),
        ("carrier/msprof", "ddl", "QUEUE_USAGE"),
    ],
)
def test_the_spec_exports_the_column(
    draft: Draft, address: str, form: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert draft.call("spec", "export", address, "--as", form, "-o", "-") == 0
    assert name in capsys.readouterr().out


@pytest.mark.exhaustive
def test_the_pages_show_the_columns(draft: Draft) -> None:
    with using(load_spec(draft.spec)):
        pages = spec_pages(spec_targets())
    assert "queueOf" in pages["tables/TASK.md"]
    assert "ENUM_QUEUE_STATE" in pages["tables/QUEUE_USAGE.md"]
    assert "QUEUE" in pages["enums/ENUM_HCCL_LINK_TYPE.md"]
    assert sum("Queue Of" in page for page in pages.values()) >= 2


@pytest.mark.parametrize(
    "name",
    [
        "TASK.queueOf",
        *(marked(one, pytest.mark.exhaustive) for one in ("QUEUE_USAGE", "ENUM_QUEUE_STATE")),
    ],
)
def test_the_self_test_breaks_what_is_new(draft: Draft, name: str) -> None:
    with using(load_spec(draft.spec)):
        every = batches(("msprof",), (NEW,))
        keys = tuple(key for batch in every for key in batch.keys if name in key)
        assert keys, "no rule judges it"
        result = run_batch(replace(every[0], keys=keys))
    assert (result.unclean, result.missed, result.false_alarms) == ([], [], [])
    assert len(result.trials) == len(keys)


@pytest.mark.exhaustive
def test_the_self_test_of_texts_knows_the_columns(draft: Draft) -> None:
    subject = "cpp-A2-PipeUtilization"
    with using(load_spec(draft.spec)):
        with open_specimen(subject) as folder:
            assert ADDED["csv"] in folder.facts.columns("raw.op_summary")
            same = f'SELECT DISTINCT "{ADDED["csv"]}" = "{STREAM["csv"]}" FROM raw.op_summary'
            assert folder.facts.connection.execute(same).fetchall() == [(True,)]
        rules = [rule for rule in load_text_rules().values() if rule.search.check is not None]
        result = run_subject(subject, [rule.id for rule in rules])
    assert result.trials
    assert (result.unclean, result.missed, result.false_alarms) == ([], [], [])
