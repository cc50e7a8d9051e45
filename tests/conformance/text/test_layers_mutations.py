"""One value changed in one file: a rule across layers tells it, and names both sides.

Each value is changed in the bytes of a simulated profile, whose files, database and timeline tell
one story before. The self-test of the rules (``rules --self-test --carrier text``) tries every
shared quantity on facts; here a seeded choice of them has to be told in words that help.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from slices import marked

from ascend_conformance.compare.agreement import Agreement
from ascend_conformance.engine.candidate import Listing
from ascend_conformance.media.text.agreeing import ask_agreements
from ascend_conformance.media.text.database import open_facts
from ascend_conformance.media.text.deliverables import companions, deliverables_in
from ascend_conformance.media.text.disagreement import Mutation, broken, mutations
from ascend_conformance.media.text.folder import Folder, load_database, read_folder
from ascend_conformance.media.text.rules import TextRule, load_text_rules
from ascend_conformance.media.text.selecting import Absent, sums_of
from ascend_conformance.media.text.sources import Sources
from ascend_conformance.options import Options
from ascend_ref.cli import main

GROUPS = "1234567"
"""Hundreds of the ids ``XLR…`` with agreements between files of the framework's folder: tasks,
statistics, steps, communication, framework, memory, samples."""
OF_EACH = 3
"""Agreements of a group that are tried here."""

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value was changed: file, and line, bytes or the row of a table."""

    file: str
    line: int | None = None
    bytes: range | None = None
    row: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A changed value, and what a finding about it has to name besides."""

    apply: Callable[[Path], Place]
    sides: tuple[str, str]


def cell(name: str, column: str, new: str, row: int = 0, **like: str) -> Callable[[Path], Place]:
    """Replace the cell of the ``row``-th of the rows whose cells are ``like``."""

    def apply(folder: Path) -> Place:
        path = found_in(folder, name)
        text = path.read_bytes().decode()
        reader = csv.reader(io.StringIO(text, newline=""))
        header = next(reader)
        starts, rows = [reader.line_num + 1], []
        for cells in reader:
            rows.append(dict(zip(header, cells, strict=True)))
            starts.append(reader.line_num + 1)
        chosen = [n for n, cells in enumerate(rows) if like.items() <= cells.items()][row]
        old = rows[chosen][column]
        lines = list(io.StringIO(text, newline=""))
        first, behind = starts[chosen] - 1, starts[chosen + 1] - 1
        record = "".join(lines[first:behind])
        wanted = list({**rows[chosen], column: new}.values())
        replaced = next(
            text
            for found in re.finditer(re.escape(old), record)
            if next(csv.reader([text := record[: found.start()] + new + record[found.end() :]]))
            == wanted
        )
        path.write_bytes("".join([*lines[:first], replaced, *lines[behind:]]).encode())
        return Place(path.name, line=starts[chosen])

    return apply


def event(
    name: str, wanted: Callable[[Event], bool], old: str, new: str
) -> Callable[[Path], Place]:
    """Replace a piece of the text of the middle one of the wanted events."""

    def apply(folder: Path) -> Place:
        path = found_in(folder, name)
        text = path.read_bytes().decode()
        places = [(begin, end) for begin, end, one in events_of(text) if wanted(one)]
        begin, end = places[len(places) // 2]
        changed = re.sub(old, new, text[begin:end], count=1)
        assert changed != text[begin:end]
        text = text[:begin] + changed + text[end:]
        json.loads(text)
        path.write_bytes(text.encode())
        start = len(text[:begin].encode())
        return Place(path.name, bytes=range(start, start + len(changed.encode())))

    return apply


def events_of(text: str) -> Iterator[tuple[int, int, Event]]:
    decoder, at = json.JSONDecoder(), text.index("[") + 1
    while text[at] != "]":
        one, end = decoder.raw_decode(text, at)
        yield at, end, one
        at = end + len(text[end : end + 8]) - len(text[end : end + 8].lstrip(", \n"))


def member(name: str, old: str, new: str) -> Callable[[Path], Place]:
    """Replace the first text of this form in a document."""

    def apply(folder: Path) -> Place:
        path = found_in(folder, name)
        text = path.read_text("utf-8")
        found = re.search(old, text)
        assert found is not None
        text = text[: found.start()] + new + text[found.end() :]
        json.loads(text)
        path.write_text(text, "utf-8")
        return Place(path.name, bytes=range(found.start(), found.start() + len(new)))

    return apply


def stored(table: str, change: str, where: str) -> Callable[[Path], Place]:
    """Change a row of a table of the database."""

    def apply(folder: Path) -> Place:
        path = found_in(folder, "*profiler_*.db" if "ascend_pt" in str(folder) else "*.db")
        with closing(sqlite3.connect(path)) as database:
            query = f"SELECT rowid FROM {table} WHERE {where} ORDER BY rowid"
            rows = [row for (row,) in database.execute(query)]
            rowid = rows[len(rows) // 2]
            database.execute(f"UPDATE {table} SET {change} WHERE rowid = ?", (rowid,))
            database.commit()
        return Place(path.name, row=f"{table} row {rowid - 1:,}")

    return apply


def found_in(folder: Path, name: str) -> Path:
    (path,) = folder.rglob(name)
    return path


def is_task(one: Event) -> bool:
    return one["ph"] == "X" and "Task Type" in one["args"] and one["dur"] > 5


def is_call(one: Event) -> bool:
    return one["ph"] == "X" and one["args"].get("level") == "runtime"


def is_computing(one: Event) -> bool:
    return one["ph"] == "X" and one["name"] == "Computing"


def is_flow(one: Event) -> bool:
    return one["ph"] == "s" and one.get("cat") == "HostToDevice"


def is_frequency(one: Event) -> bool:
    return one["ph"] == "C" and one["name"] == "AI Core Freq"


def is_transfer(one: Event) -> bool:
    return one["ph"] == "X" and one["args"].get("transport type") == "SDMA"


CHANGES: Mapping[str, Mapping[str, Change]] = {
    "ascend_pt": {
        "duration-of-kernel": Change(
            cell("kernel_details.csv", "Duration(us)", "99.125", row=3, Type="MatMulV2"),
            ("kernel_details.csv", "trace_view.json Ascend Hardware"),
        ),
        "start-of-slice": Change(
            event("trace_view.json", is_task, '"ts": "1767258000', '"ts": "1767258001'),
            ("trace_view.json", "TASK row"),
        ),
        "id-of-arrow": Change(
            event("trace_view.json", is_flow, '("id": "[0-9]+)"', r'\g<1>7"'),
            ("trace_view.json", "An arrow from the host to a device has no end"),
        ),
        "overlap": Change(
            event("trace_view.json", is_computing, r'"dur": [0-9.]+', '"dur": 777.5'),
            ("Overlap Analysis event", "OVERLAP_ANALYSIS row"),
        ),
        "frequency": Change(
            event("trace_view.json", is_frequency, '"MHz": [0-9]+', '"MHz": 1234'),
            ("trace_view.json AI Core Freq", "AICORE_FREQ"),
        ),
        "size-of-transfer": Change(
            event("trace_view.json", is_transfer, r'"size\(Byte\)": [0-9]+', '"size(Byte)": 4321'),
            ("trace_view.json Communication", "COMMUNICATION_TASK_INFO"),
        ),
        "time-of-step": Change(
            cell("step_trace_time.csv", "Computing", "4711.5"),
            ("step_trace_time.csv", "recomputation from the layer Overlap Analysis"),
        ),
        "waiting-of-communication": Change(
            member("communication.json", r'"Wait Time\(ms\)": [0-9.]+', '"Wait Time(ms)": 3.25'),
            ("communication.json", "CommAnalyzerTime"),
        ),
        "size-of-matrix": Change(
            member(
                "communication_matrix.json",
                r'"Transit Size\(MB\)": [0-9.]+',
                '"Transit Size(MB)": 9.5',
            ),
            ("communication_matrix.json", "CommAnalyzerMatrix"),
        ),
        "memory-of-engine": Change(
            cell("memory_record.csv", "Total Allocated(MB)", "1.5", row=20, Component="PTA"),
            ("memory_record.csv", "MEMORY_RECORD"),
        ),
        "size-of-block": Change(
            cell("operator_memory.csv", "Size(KB)", "77.5", row=5),
            ("operator_memory.csv", "OP_MEMORY"),
        ),
        "time-of-calls": Change(
            cell("api_statistic.csv", "Time(us)", "12345.678", row=5),
            ("api_statistic.csv", "recomputation from CANN_API"),
        ),
        "total-of-type": Change(
            cell("op_statistic.csv", "Total Time(us)", "31.25", row=2),
            ("op_statistic.csv", "recomputation from TASK and COMPUTE_TASK_INFO"),
        ),
        "details-of-operator": Change(
            cell("operator_details.csv", "Device Self Duration With AICore(us)", "5.125", row=9),
            ("operator_details.csv", "trace_view.json Python"),
        ),
        "stored-operator": Change(
            stored(
                "PYTORCH_API",
                "endNs = CAST(CAST(endNs AS INTEGER) + 70000 AS TEXT)",
                "type = 50001",
            ),
            ("PYTORCH_API", "trace_view.json Python"),
        ),
        "stored-memory": Change(
            stored("NPU_MEM", "hbm = hbm + 1048576", "type = (SELECT min(type) FROM NPU_MEM)"),
            ("NPU_MEM row", "memory_record.csv"),
        ),
    },
    "PROF_": {
        "duration-of-operator": Change(
            cell(
                "op_summary_*.csv", "Task Duration(us)", "99.125", row=3, **{"OP Type": "MatMulV2"}
            ),
            ("op_summary.csv", "task_time.csv"),
        ),
        "start-of-task": Change(
            cell(
                "task_time_*.csv",
                "task_start(us)",
                "1767258000150999.999\t",
                row=9,
                kernel_type="AI_CORE",
            ),
            ("task_time.csv", "msprof.json Ascend Hardware"),
        ),
        "duration-of-call": Change(
            event("msprof_2*.json", is_call, r'"dur": ?[0-9.]+', '"dur":77.125'),
            ("msprof.json CANN", "CANN_API"),
        ),
        "total-of-communication": Change(
            cell("communication_statistic_*.csv", "Total Time(us)", "31.25"),
            ("communication_statistic.csv", "COMMUNICATION_OP"),
        ),
        "mark": Change(
            cell("msprof_tx_*.csv", "End_time(us)", "1767258000151999.999\t", row=2),
            ("msprof_tx.csv", "MSTX_EVENTS"),
        ),
        "memory-of-device": Change(
            cell("npu_mem_*.csv", "hbm(KB)", "4242", row=4, event="APP"),
            ("npu_mem.csv", "NPU_MEM"),
        ),
        "mean-of-memory-traffic": Change(
            cell("hbm_*.csv", "Read(MB/s)", "17.125"),
            ("hbm.csv", "HBM"),
        ),
        "peak-of-host": Change(
            cell("host_mem_usage_*.csv", "Peak Used Memory(KB)", "17.125"),
            ("host_mem_usage.csv", "recomputation from the samples"),
        ),
        "cache-of-operator": Change(
            cell("l2_cache_*.csv", "Task Id", "9", row=7),
            ("l2_cache.csv", "op_summary.csv"),
        ),
        "stored-task": Change(
            stored(
                "TASK",
                "startNs = startNs - 3000",
                "modelId = 4294967295 AND endNs - startNs > 5000",
            ),
            ("TASK", "msprof.json Ascend Hardware"),
        ),
        "stored-system-call": Change(
            stored("OSRT_API", "endNs = endNs + 7000", "true"),
            ("OSRT_API", "msprof.json OS Runtime API"),
        ),
    },
}
CASES = [(output, name) for output, changes in CHANGES.items() for name in changes]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """The folders of rank 0 of one simulated run, by output."""
    folder = tmp_path_factory.mktemp("mutations") / "run"
    words = "simulate observed-everything --ranks 2 --steps 1 --as"
    formats = "pytorch-db,pytorch-text,msprof-db,csv,timeline"
    with redirect_stdout(io.StringIO()):
        assert main([*words.split(), formats, "-o", str(folder)]) == 0
    found = {}
    for output in CHANGES:
        found[output] = min(path for path in folder.glob(f"*/*{output}*") if path.is_dir())
    return found


def verdict(folder: Path) -> tuple[int, list[dict[str, Any]]]:
    """Exit code and findings across layers of the command on a folder."""
    report = folder.with_suffix(".report")
    words = ["check", str(folder), "--select", "XLR", "--workers", "1"]
    with redirect_stdout(io.StringIO()):
        code = main([*words, "--report", f"json={report}"])
    files = json.loads(report.read_text("utf-8"))["files"]
    return code, [
        {"file": file["file"], **finding} for file in files for finding in file["findings"]
    ]


@dataclass(frozen=True, slots=True)
class Changed:
    """What the command said of a folder before and after all its changes, and their places."""

    before: tuple[int, list[dict[str, Any]]]
    after: tuple[int, list[dict[str, Any]]]
    places: Mapping[str, Place]


@pytest.fixture(scope="module")
def changed(simulated: Mapping[str, Path]) -> Mapping[str, Changed]:
    found = {}
    for output, changes in CHANGES.items():
        folder = simulated[output]
        copy = folder.parent / "changed" / folder.name
        shutil.copytree(folder, copy)
        places = {name: change.apply(copy) for name, change in changes.items()}
        found[output] = Changed(verdict(folder), verdict(copy), places)
    return found


@pytest.mark.campaign
@pytest.mark.parametrize("output", CHANGES)
def test_without_a_change_there_is_nothing(changed: Mapping[str, Changed], output: str) -> None:
    assert changed[output].before == (0, [])


@pytest.mark.campaign
@pytest.mark.parametrize(("output", "name"), CASES)
def test_a_change_in_one_file_is_told_with_both_sides(
    changed: Mapping[str, Changed], output: str, name: str
) -> None:
    code, findings = changed[output].after
    place, sides = changed[output].places[name], CHANGES[output][name].sides
    assert code == 1
    told = [words_of(one) for one in findings if is_of(one, place)]
    assert any(all(side in words for side in sides) for words in told), told


def words_of(finding: Mapping[str, Any]) -> str:
    """The message, and the names of what is shown of bad rows, which name their places."""
    shown = "; ".join(name for example in finding["examples"] for name in example)
    return f"{finding['table']}: {finding['message']}; {shown}; "


def is_of(finding: Mapping[str, Any], place: Place) -> bool:
    """Whether a finding names a place: as its own, or as that of the other side."""
    if place.row is not None:
        return f"{place.row} " in words_of(finding)
    same = Path(finding["file"]).name == place.file
    if place.line is not None:
        return same and finding["line"] == place.line
    return same and finding.get("offset") in (place.bytes or ())


@pytest.fixture(scope="module")
def folder(simulated: Mapping[str, Path]) -> Iterator[Folder]:
    """The facts of the framework's folder as it was simulated."""
    (output,) = simulated["ascend_pt"].rglob("ASCEND_PROFILER_OUTPUT")
    (database,) = output.glob("*profiler_*.db")
    files = (*deliverables_in(Listing(output)), *companions(Listing(output)))
    with open_facts() as facts:
        read = read_folder(facts, files, kept="whole")
        load_database(read, database, load_text_rules().values())
        yield read


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "group",
    [marked(one, pytest.mark.campaign) if at % 3 else one for at, one in enumerate(GROUPS)],
)
def test_chosen_mutations_of_every_group_are_told_with_both_sides(
    folder: Folder, group: str
) -> None:
    chance = random.Random(int(group))
    sources = Sources(folder.facts)
    tried = 0
    for rule, agreement in shuffled(group, chance):
        try:
            found = mutations(sources, agreement)
        except Absent:
            continue
        for mutation in chance.sample(found, min(2, len(found))):
            assert_told(folder, sources, rule, agreement, mutation)
        tried += len(found) > 0
        if tried >= OF_EACH:
            break
    assert tried


def shuffled(group: str, chance: random.Random) -> list[tuple[TextRule, Agreement]]:
    """The agreements of a group in any order, one of each rule."""
    rules = [one for one in load_text_rules().values() if one.id.startswith(f"XLR{group}")]
    chosen = [
        (one, chance.choice(one.search.agreement.instances))
        for one in rules
        if one.search.agreement
    ]
    chance.shuffle(chosen)
    return chosen


def assert_told(
    folder: Folder, sources: Sources, rule: TextRule, agreement: Agreement, mutation: Mutation
) -> None:
    """Told in words that name both sides, if it changes what its side tells at all."""
    with broken(sources, [mutation]):
        asked = ask_agreements(folder, [rule], Options(max_examples=1, workers=1))
        after = sums_of(sources, agreement, mutation.which)
    assert asked.found or after == sums_of(sources, agreement, mutation.which), mutation.words
    known = {file.place for file in folder.files.values()}
    for one in asked.found:
        _, _, told = one.message.rpartition("; ")
        own, found, other = re.split(r" (against|is not in) (?!.* (?:against|is not in) )", told)
        assert one.table in known or ".db" in str(one.table), mutation.words
        assert Path(one.file).exists()
        assert own
        assert found
        assert other
        assert "@column" not in told
        if found == "is not in":
            assert one.in_text or "recomputation" not in own
