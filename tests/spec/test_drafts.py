"""Drafts: laid over the packaged documents, judged, and the same everywhere."""

from __future__ import annotations

import json
import pickle
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from slices import marked, some

from ascend_conformance.media.db.selftest import make_specimen
from ascend_ref.cli import main
from ascend_ref.db.ddl import create_table
from ascend_ref.execution import Processes
from ascend_ref.tools.spec.lookup import subjects
from ascend_spec import Spec, catalog, load_spec, packaged, using
from ascend_spec.core import SpecError, parse
from ascend_spec.overlay import DraftError, Overlay
from ascend_spec.overlay.laying import Laying
from ascend_spec.overlay.places import KINDS

FACTS = "schema_version: 1.3.0, grade: inferred, summary: Queues."
REVISION = f"revision/1.3.0-queue: {{date: '2026-12-01', {FACTS}}}\n"
COLUMN = "type: streamId, shows: task.stream, summary: Queue."
OLD = "1.2.0-2026-07"


def draft(folder: Path, text: str, *, revision: bool = True) -> Path:
    path = folder / "draft.yaml"
    path.write_text(text + "\n" + (REVISION if revision else ""), "utf-8")
    return path


def laid(folder: Path, text: str, *, revision: bool = True) -> Spec:
    return load_spec(draft(folder, text, revision=revision))


# --- what is laid over what -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "follows"), [("after: startNs, ", "startNs"), ("before: endNs, ", "startNs")]
)
def test_a_column_stands_where_the_draft_says(tmp_path: Path, place: str, follows: str) -> None:
    spec = laid(tmp_path, f"column/TASK.queueOf: {{{place}{COLUMN}}}")
    names = list(spec.db.at("1.3.0", "msprof").tables["TASK"].columns)
    assert names[names.index("queueOf") - 1] == follows
    assert names.count("queueOf") == 1
    assert spec.db.at(OLD, "msprof") == packaged().db.at(OLD, "msprof")


def test_neighbours_of_a_draft_stand_next_to_each_other_in_any_order(tmp_path: Path) -> None:
    text = f"column/TASK.b: {{after: a, {COLUMN}}}\ncolumn/TASK.a: {{after: endNs, {COLUMN}}}"
    names = list(laid(tmp_path, text).db.tables["TASK"].columns)
    assert names[names.index("endNs") :][:3] == ["endNs", "a", "b"]


def test_what_is_new_begins_with_the_new_revision_unless_it_says_otherwise(tmp_path: Path) -> None:
    text = (
        f"column/TASK.new: {{{COLUMN}}}\n"
        f"column/TASK.early: {{since: '2026-06-05', {COLUMN}}}\n"
        f"column/TASK.always: {{without: [since], {COLUMN}}}"
    )
    columns = laid(tmp_path, text).db.tables["TASK"].columns
    assert [columns[one].since for one in ("new", "early", "always")] == [
        "2026-12-01",
        "2026-06-05",
        None,
    ]
    assert {columns[one].grade for one in ("new", "early", "always")} == {"inferred"}


def test_a_fact_that_is_there_keeps_what_the_draft_does_not_name(tmp_path: Path) -> None:
    spec = laid(tmp_path, 'column/TASK.streamId: {until: "2026-12-01", maximum: 7}')
    new, old = (one.db.tables["TASK"].columns["streamId"] for one in (spec, packaged()))
    assert (new.until, new.maximum, new.summary, new.grade) == (
        *("2026-12-01", 7),
        *(old.summary, old.grade),
    )
    assert "streamId" not in spec.db.at("1.3.0", "msprof").tables["TASK"].columns


def test_keys_can_be_taken_away(tmp_path: Path) -> None:
    assert packaged().db.tables["TASK"].session_start
    assert (
        laid(tmp_path, "table/TASK: {without: [session_start]}").db.tables["TASK"].session_start
        is None
    )


def test_a_table_that_shares_a_document_changes_alone(tmp_path: Path) -> None:
    spec = laid(tmp_path, f"column/ENUM_MODULE.note: {{{COLUMN}}}")
    for name, table in packaged().db.tables.items():
        if name != "ENUM_MODULE":
            assert spec.db.tables[name] == table
    assert list(spec.db.tables["ENUM_MODULE"].columns)[-1] == "note"


def test_an_enum_gets_a_table_like_the_others(tmp_path: Path) -> None:
    spec = laid(tmp_path, "enum/ENUM_Q: {summary: A state., members: [{id: 0, name: A}]}")
    schema = spec.db.at("1.3.0", "pytorch")
    assert schema.enums["ENUM_Q"] == {0: "A"}
    assert "id INTEGER PRIMARY KEY" in create_table(schema.tables["ENUM_Q"], schema)
    assert "ENUM_Q" not in spec.db.at(OLD, "pytorch").tables


def test_a_member_that_changes_its_name_is_two_members(tmp_path: Path) -> None:
    text = (
        'member/ENUM_HCCL_LINK_TYPE/1: {until: "2026-12-01"}\n'
        "member/ENUM_HCCL_LINK_TYPE/1@2026-12-01: {name: PCIE5}"
    )
    spec = laid(tmp_path, text)
    old, new = (spec.db.at(one, "msprof").enums["ENUM_HCCL_LINK_TYPE"] for one in (OLD, "1.3.0"))
    assert new == {**old, 1: "PCIE5"}


def test_a_name_that_comes_back_is_another_column(tmp_path: Path) -> None:
    text = (
        'column/TASK.streamId: {until: "2026-12-01"}\n'
        f"column/TASK.streamId@2026-12-01: {{after: streamId, {COLUMN}}}"
    )
    spec = laid(tmp_path, text)
    then, before = (
        one.db.at(revision, "msprof").tables["TASK"].columns
        for one, revision in ((spec, "1.3.0"), (spec, OLD))
    )
    assert list(then) == list(before)
    assert then["streamId"].summary == "Queue."
    assert before["streamId"].summary == packaged().db.tables["TASK"].columns["streamId"].summary


def test_one_of_several_headers_is_named_by_a_key(tmp_path: Path) -> None:
    text = "header/operator_memory/Device: {where: {summary: %s}, summary: Where.}"
    rows = [
        one for one in packaged().text.csv["operator_memory"].own_columns if one.name == "Device"
    ]
    assert len(rows) == 2
    spec = laid(tmp_path, text % json.dumps(rows[1].summary))
    changed = [
        one.summary for one in spec.text.csv["operator_memory"].own_columns if one.name == "Device"
    ]
    assert changed == [rows[0].summary, "Where."]


def test_a_document_without_addresses_is_changed_by_its_name(tmp_path: Path) -> None:
    spec = laid(tmp_path, "bin/payloads/basic-info.schema.yaml: {title: Something else}")
    name = "bin/payloads/basic-info.schema.yaml"
    assert spec.folder.read(name) == {**packaged().folder.read(name), "title": "Something else"}


def test_a_later_writer_has_a_header_of_its_own(tmp_path: Path) -> None:
    text = (
        'writer/cpp: {date: "2026-12-01"}\n'
        'writer/cpp-2026-07: {like: cpp, date: "2026-07-21", current: false, summary: Before.}\n'
        "header/op_summary/Queue Of: {type: streamId, shows: task.stream, "
        'when: {writers: [cpp], since: "2026-12-01"}, summary: Queue.}'
    )
    spec = laid(tmp_path, text)
    (column,) = (one for one in spec.text.csv["op_summary"].own_columns if one.name == "Queue Of")
    assert column.when.since == "2026-12-01"
    assert spec.text.writers["cpp-2026-07"].name == packaged().text.writers["cpp"].name


def test_several_documents_are_one_draft(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"column/QUEUE.x: {{{COLUMN}}}\n", "utf-8")
    (tmp_path / "b.yaml").write_text(
        "table/QUEUE: {summary: A., writer: msprof, carriers: {msprof: always}, columns: {y: "
        f"{{{COLUMN}}}}}}}\n{REVISION}",
        "utf-8",
    )
    assert list(load_spec(tmp_path).db.tables["QUEUE"].columns) == ["y", "x"]
    (tmp_path / "c.yaml").write_text(REVISION, "utf-8")
    with pytest.raises(DraftError, match=r"c.yaml:1: revision/1.3.0-queue: expected once, stands"):
        load_spec(tmp_path)


def own_words(name: str) -> tuple[str, Any]:
    """A document of the spec as a draft of what is there already."""
    kinds = {"db/tables": ("table", "table"), "db/enums": ("enum", "enum")}
    kinds |= {"text/csv": ("csv", "file"), "timeline/layers": ("layer", "layer")}
    kind, key = next(facts for place, facts in kinds.items() if name.startswith(place))
    row = packaged().folder.read(name)
    return f"{kind}/{row.pop(key)}", row


NAMES = [
    name
    for folder in ("db/tables", "db/enums", "text/csv", "timeline/layers")
    for name in packaged().folder.names(folder)
    if isinstance(parse(packaged().folder.text(name)).get("table", ""), str)
]


@pytest.mark.parametrize("name", some(NAMES, every=72))
def test_a_draft_of_what_is_there_changes_nothing(name: str, tmp_path: Path) -> None:
    address, row = own_words(name)
    spec = laid(tmp_path, yaml.safe_dump({address: row}, sort_keys=False), revision=False)
    assert spec.folder.read(name) == packaged().folder.read(name)
    for family in ("db.tables", "db.enums", "text.csv", "timeline.layers"):
        first, second = family.split(".")
        assert getattr(getattr(spec, first), second) == getattr(getattr(packaged(), first), second)


@pytest.mark.exhaustive
def test_a_private_table_is_known_at_every_revision_and_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vendor = tmp_path / "vendor.yaml"
    vendor.write_text(
        """
table/VENDOR_POWER:
  summary: Power of each board, sampled by a daemon of our own.
  writer: msprof
  carriers: {msprof: when-rows}
  sample: timestampNs
  columns:
    timestampNs: {type: timestampNs, shows: {nothing: unrecorded}, summary: Time of the sample.}
    watts: {type: byteCount, shows: {nothing: unrecorded}, summary: Power.}
""",
        "utf-8",
    )
    specimen = make_specimen("msprof", "1.2.0-2025-12")
    profile = tmp_path / "msprof_20260721120000.db"
    profile.write_bytes(specimen.content)
    with closing(sqlite3.connect(profile)) as database, database:
        database.execute("CREATE TABLE VENDOR_POWER(timestampNs INTEGER, watts INTEGER)")
        database.execute("INSERT INTO VENDOR_POWER SELECT min(startNs), 310 FROM TASK")
    assert main(["check", str(profile)]) == 0
    assert "DB102 unknown-table" in capsys.readouterr().out
    assert main(["--spec", str(vendor), "check", str(profile)]) == 0
    assert "conforms: no violation, no advice" in capsys.readouterr().out
    with closing(sqlite3.connect(profile)) as database, database:
        database.execute("UPDATE VENDOR_POWER SET watts = -1")
    main(["--spec", str(vendor), "check", str(profile)])
    assert "VENDOR_POWER.watts" in capsys.readouterr().out


# --- mistakes -------------------------------------------------------------------------------------

MISTAKES = [
    ("7", "draft.yaml: expected a mapping of addresses, such as column/TASK.taskId"),
    ("a: [", "draft.yaml: no YAML: did not find"),
    ("column/TASK.x: {a: 1}\ncolumn/TASK.x: {a: 1}", "draft.yaml: no YAML: duplicate entry"),
    ("a: {b: 1}", "draft.yaml:1: expected an address, kind/name, got 'a'"),
    ("tabel/TASK: {a: 1}", "draft.yaml:1: tabel/TASK: unknown kind 'tabel'; did you mean table?"),
    ("\ncolumn/TASK.x:", "draft.yaml:2: column/TASK.x: expected a mapping of facts; what disapp"),
    (f"column/TASK.x: {{summry: A., {COLUMN}}}", "x: unknown key 'summry'; did you mean summary?"),
    ("column/TASK.x: {type: streamId}", "column/TASK.x: expected the key 'shows' as well"),
    ("column/TASK.streamID: {unit: ns}", "the key 'type' as well; did you mean streamId?"),
    (f"column/TASK.x: {{type: depth, {COLUMN[16:]}}}", "x: type: unknown value type 'depth'"),
    (f"column/TASK.x: {{{COLUMN[:-1]}}}", 'x: summary: "Queue" does not match'),
    (f"column/TASK.x: {{after: taskid, {COLUMN}}}", "after: TASK has no column 'taskid'; did"),
    (f"column/TASK.x: {{after: x, {COLUMN}}}", "x: stands next to what stands next to it"),
    (f"column/TASK.x: {{after: taskId, before: taskId, {COLUMN}}}", "after or before, not both"),
    (f"column/TASKS.x: {{{COLUMN}}}", "column/TASKS.x: no table 'TASKS'"),
    (f"column/TASK: {{{COLUMN}}}", "column/TASK: expected table.column"),
    (f"column/TASK.TASKID: {{{COLUMN}}}", "SQLite takes it for taskId, which is there"),
    (f"column/TASK.x: {{source: [hearsay], {COLUMN}}}", "x: source: unknown 'hearsay'"),
    (f"column/TASK.x: {{references: [TASK.y], {COLUMN}}}", "x: references: unknown 'TASK.y'"),
    (f"column/TASK.x: {{since: '2027-01-01', {COLUMN}}}", "x: since: 2027-01-01 lies behind"),
    ("column/TASK.x: {type: streamId, shows: tsk.x, summary: A.}", "unknown entity 'tsk'; did"),
    ("column/TASK.x: {type: streamId, shows: task.x, summary: A.}", "shows: task has no column"),
    ("column/TASK.taskId: {without: [sumary]}", "without: 'sumary' is not there; did you mean"),
    ("table/X: {summary: A.}", "table/X: expected the key 'writer' as well"),
    ("table/TASK: {device: stream}", "table/TASK: no column 'stream'; did you mean streamId?"),
    ("table/TASK: {switches: [task-tme]}", "switches: unknown 'task-tme'; did you mean task-time"),
    ("member/ENUM_MODULE/x: {name: X}", "member/ENUM_MODULE/x: expected a number, got 'x'"),
    ("member/ENUM_MODULE/5: {name: X}", "2 members have this name; expected where:"),
    ("member/ENUM_MODULE/500: {name: HCCL}", "name: HCCL is the name of 3"),
    ("header/op_summary/X: {after: Task Id}", "after: op_summary has no header 'Task Id'; did"),
    ("argument/CANN/tusk/X: {type: text}", "no trace-event 'CANN/tusk'"),
    (
        "argument/CANN/call/X: {type: x, shows: {nothing: unknown}, summary: A.}",
        "argument/CANN/call/X: type: unknown value type 'x'",
    ),
    ("layout/x: {a: b}", "layout/x: no such thing"),
    ("../x.yaml: {a: b}", "draft.yaml:1: ../x.yaml: no such document"),
    ("db/foreign.yaml: {a: b}", "db/foreign.yaml: expected the addresses of its rows"),
    (
        f"revision/1.3.0-x: {{date: '2026-07-21', {FACTS}}}",
        "date: 2026-07-21 is the day of 1.2.0-2026-07",
    ),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_a_mistake_is_one_line_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    path = draft(tmp_path, text, revision=text[0].isalpha() and ": {" in text)
    with pytest.raises(SpecError) as failure:
        load_spec(path)
    line = str(failure.value).replace(f"{tmp_path}/", "")
    assert re.match(r"draft\.yaml(:\d+)?: ", line)
    assert message in line
    assert len(line) < 600


def test_a_mistake_ends_the_command_with_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = draft(tmp_path, "tabel/TASK: {a: 1}")
    for words in (["--spec", str(path), "spec", "list"], ["spec", "overlay", str(path), "-o", "x"]):
        assert main(words) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert f"{path}:1: tabel/TASK: unknown kind" in error


def damages(content: Any) -> Iterator[Any]:
    """The content without one of its keys, or with another kind of value there."""
    if isinstance(content, dict):
        for key in content:
            yield {name: value for name, value in content.items() if name != key}
            for other in (7, [1], {"a": "b"}, None, "x"):
                yield {**content, key: other}
            for inner in damages(content[key]):
                yield {**content, key: inner}
    if isinstance(content, list):
        for row in damages(content[0]) if content else ():
            yield [row, *content[1:]]


SOUND = yaml.safe_load(
    f"""
column/TASK.x: {{after: taskId, {COLUMN}}}
table/X:
  {{summary: A., writer: msprof, carriers: {{msprof: always}}, interval: [a, a],
    columns: {{a: {{{COLUMN}}}}}}}
enum/ENUM_Q: {{summary: A., members: [{{id: 0, name: A}}]}}
header/op_summary/Q: {{after: Task ID, format: duration, when: {{levels: [1]}}, {COLUMN}}}
argument/Ascend Hardware/task/Q: {{{COLUMN}}}
header/operator_memory/Device: {{where: {{x: 1}}, summary: A.}}
"""
)


@pytest.mark.parametrize(
    "address", [*list(SOUND)[:1], *(marked(one, pytest.mark.exhaustive) for one in list(SOUND)[1:])]
)
def test_a_damaged_piece_is_laid_or_reported(address: str, tmp_path: Path) -> None:
    reported = 0
    for damaged in damages(deepcopy(SOUND[address])):
        path = draft(tmp_path, yaml.safe_dump({address: damaged}))
        failure = report(path)
        reported += failure is not None
        assert failure is None or failure.startswith(f"{path}:1: {address}: ")
    assert reported


def report(path: Path) -> str | None:
    try:
        load_spec(path)
    except SpecError as failure:
        return str(failure)
    return None


NAMED_OTHERWISE = {
    "trace-key": 5,  # metadata events, which have a document of their own
    "trace-form": 8,  # of older writers, which have that of the newer one like them
    "data-type": 10,  # by the name that functions have
    "values": 6,  # sets that other documents hold
    "metric": None,  # a ratio also stands for its time
    "header": None,  # of copies, and of counters
}


@pytest.mark.exhaustive
def test_what_has_an_address_can_be_changed() -> None:
    laying = Laying(packaged().folder, (), "draft")
    lost: dict[str, list[str]] = {}
    for subject in subjects().values():
        if subject.kind in KINDS and laying.find(subject.kind, subject.name) is None:
            lost.setdefault(subject.kind, []).append(subject.name)
    assert lost.keys() == NAMED_OTHERWISE.keys()
    for kind, names in lost.items():
        assert NAMED_OTHERWISE[kind] in (None, len(names)), names


@pytest.mark.parametrize(("erratum", "document"), some([("E900", "db"), ("T900", "text")], every=2))
def test_an_erratum_stands_with_those_of_its_family(
    erratum: str, document: str, tmp_path: Path
) -> None:
    facts = "title: Queues, at: [TASK], says: [{source: draft, claim: A.}], resolution: B."
    source = "source/draft: {grade: inferred, title: A draft, where: here}"
    spec = laid(tmp_path, f"erratum/{erratum}: {{{facts}}}\n{source}")
    rows = spec.folder.read(f"{document}/errata.yaml")
    assert rows[-1]["id"] == erratum


# --- the same everywhere --------------------------------------------------------------------------


def _queue(_common: None, _item: int) -> bool:
    return "queueOf" in catalog().tables["TASK"].columns


@pytest.mark.exhaustive
def test_other_processes_have_the_draft_that_was_read(tmp_path: Path) -> None:
    path = draft(tmp_path, f"column/TASK.queueOf: {{{COLUMN}}}")
    spec = load_spec(path)
    path.write_text("table/TASK: {}", "utf-8")  # changed while a command runs
    with using(spec):
        assert list(Processes(2).map(_queue, None, [1, 2])) == [True, True]
    received = pickle.loads(pickle.dumps(spec))  # noqa: S301 - our own bytes
    assert received is pickle.loads(pickle.dumps(spec))  # noqa: S301
    assert received.db.tables == spec.db.tables


def test_a_working_copy_is_the_spec_with_its_draft(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = draft(tmp_path, f"column/TASK.queueOf: {{after: taskId, {COLUMN}}}")
    copy = tmp_path / "copy"
    assert main(["spec", "overlay", str(path), "-o", str(copy)]) == 0
    assert main(["spec", "overlay", str(path), "-o", str(copy)]) == 2
    assert "exists already; --force replaces it" in capsys.readouterr().err
    folder, written = load_spec(path).folder, load_spec(copy).folder
    assert isinstance(folder, Overlay)
    families = [one.name for one in copy.iterdir()]
    names = [name for family in families for name in folder.names(family)]
    assert names == [name for family in families for name in written.names(family)]
    assert {name.partition("/")[0] for name in packaged_names()} == set(families)
    for name in names:
        assert written.read(name) == folder.read(name), name
        if name not in folder.changed:
            assert written.text(name) == packaged().folder.text(name)
    second = tmp_path / "further.yaml"
    second.write_text(f"column/TASK.lane: {{since: '2026-12-01', {COLUMN}}}", "utf-8")
    again = tmp_path / "again"
    assert main(["--spec", str(copy), "spec", "overlay", str(second), "-o", str(again)]) == 0
    assert {"queueOf", "lane"} <= load_spec(again).db.tables["TASK"].columns.keys()


def packaged_names() -> list[str]:
    families = [one.name for one in packaged().folder.root.iterdir() if one.is_dir()]
    return [name for family in families for name in packaged().folder.names(family)]


@pytest.mark.exhaustive
def test_every_document_can_be_written_anew() -> None:
    for name in packaged_names():
        changed = object.__new__(Overlay)
        changed.changed = {name: packaged().folder.read(name)}
        assert parse(changed.text(name)) == changed.changed[name], name


def test_a_folder_without_documents_is_no_draft(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["spec", "overlay", str(tmp_path), "-o", str(tmp_path / "x")]) == 2
    assert f"{tmp_path}: expected a draft" in capsys.readouterr().err
