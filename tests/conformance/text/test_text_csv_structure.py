"""One fault in a real CSV file, one finding: by the right rule, at the right line and byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from slices import some
from text_folders import OUTPUT, STRUCTURE, Table, changed, copied, judged, structural

Change = Callable[[Table], None]


def cell(row: int, column: str, text: str) -> Change:
    def change(table: Table) -> None:
        table[row][table[0].index(column)] = text

    return change


def renamed(column: str, text: str) -> Change:
    return cell(0, column, text)


def without(column: str) -> Change:
    def change(table: Table) -> None:
        place = table[0].index(column)
        for row in table:
            del row[place]

    return change


def swapped(one: int, other: int) -> Change:
    def change(table: Table) -> None:
        for row in table:
            row[one], row[other] = row[other], row[one]

    return change


def added(name: str, text: str) -> Change:
    def change(table: Table) -> None:
        for place, row in enumerate(table):
            row.append(text if place else name)

    return change


def moved(row: int, to: int) -> Change:
    def change(table: Table) -> None:
        table.insert(to, table.pop(row))

    return change


def every_cell(column: str, text: str) -> Change:
    def change(table: Table) -> None:
        for row in table[1:]:
            row[table[0].index(column)] = text

    return change


API = "api_statistic.csv"
KERNELS = "kernel_details.csv"
MEMORY = "operator_memory.csv"

FAULTS: dict[str, tuple[str, Change, str, str, int]] = {
    "missing-column": (API, without("Count"), "CSV011", "Count", 1),
    "strange-column": (API, added("Note", "x"), "CSV012", "", 1),
    "column-of-another-writer": (KERNELS, added("memory_bound", "0"), "CSV012", "memory_bound", 1),
    "order-of-columns": (API, swapped(3, 4), "CSV013", "Count", 1),
    "doubled-column": (API, added("Count", "1"), "CSV014", "Count", 1),
    "no-number": (API, cell(5, "Count", "three"), "CSV020", "Count", 6),
    "infinite": (API, cell(5, "Variance", "inf"), "CSV020", "Variance", 6),
    "not-a-number": (API, cell(5, "Variance", "nan"), "CSV020", "Variance", 6),
    "too-wide": (API, cell(5, "Count", "9" * 5000), "CSV020", "Count", 6),
    "no-tab": (KERNELS, cell(9, "Start Time(us)", "1736408883706000.000"), "CSV021", "Start", 10),
    "decimals": (API, cell(2, "Avg(us)", "1.23456"), "CSV023", "Avg(us)", 3),
    "fixed-decimals": (
        MEMORY,
        cell(3, "Allocation Time(us)", "1736408883701264\t"),
        "CSV023",
        "",
        4,
    ),
    "negative": (API, cell(4, "Count", "-3"), "CSV024", "Count", 5),
    "too-large": (KERNELS, cell(2, "Model ID", "4294967296"), "CSV024", "Model ID", 3),
    "empty": (API, cell(4, "Count", ""), "CSV025", "Count", 5),
    "not-applicable": (API, cell(4, "API Name", "N/A"), "CSV025", "API Name", 5),
    "no-member": (API, cell(1, "Level", "AscendCL"), "CSV026", "Level", 2),
    "zero-byte": (API, cell(4, "API Name", "aclrtMalloc\0\0"), "CSV015", "", 5),
    "order": (KERNELS, moved(20, 2), "CSV030", "Start Time(us)", 4),
}


@pytest.mark.parametrize("name", some(FAULTS, every=4))
def test_one_fault_gives_one_finding(name: str, tmp_path: Path) -> None:
    file, change, rule, column, line = FAULTS[name]
    path = changed(tmp_path, file, change)
    (finding,) = structural(path)
    assert (finding.rule, finding.line) == (rule, line)
    assert finding.place.startswith(f"{file}: {column}" if column else file)
    assert finding.file == str(path)
    lines = path.read_bytes().split(b"\n")
    assert finding.offset == sum(len(one) + 1 for one in lines[: line - 1])
    assert f"line {line:,}, byte {finding.offset:,}" in finding.message


def test_findings_count_rows_and_do_not_grow(tmp_path: Path) -> None:
    path = changed(tmp_path, API, every_cell("Count", "many"))
    (finding,) = structural(path)
    assert (finding.count, finding.context["rows"]) == (57, 57)
    assert len(finding.examples) == 5
    assert "57 of 57 (first: line 2" in finding.message


BROKEN = {
    b"acl,only,three\n": ("CSV002", None),
    b"acl,x,1,1,1,1,1,0,surplus\n": ("CSV004", None),
    b"\n": ("CSV006", None),
    b'acl,a"b,1,1,1,1,1,0\n': ("CSV001", None),
    b"acl,a\rb,1,1,1,1,1,0\n": ("CSV001", None),
    b"acl,\xff\xfe,1,1,1,1,1,0\n": ("CSV007", None),
    b'acl,"never closed,1,1,1,1,1,0\n': ("CSV001", None),
}


@pytest.mark.parametrize("row", BROKEN, ids=repr)
def test_broken_rows_are_told_and_the_others_judged(row: bytes, tmp_path: Path) -> None:
    path = copied(tmp_path, API) / API
    lines = path.read_bytes().splitlines(keepends=True)
    lines[9] = lines[9].replace(lines[9].split(b",")[3], b"-1", 1)
    path.write_bytes(b"".join([*lines[:5], row, *lines[5:]]))
    broken, judged_row = structural(path)
    assert (broken.rule, broken.line, broken.count) == (BROKEN[row][0], 6, 1)
    assert broken.offset == sum(map(len, lines[:5]))
    assert (judged_row.rule, judged_row.line) == ("CSV024", 11)


def test_line_ends_and_marks(tmp_path: Path) -> None:
    path = copied(tmp_path, API) / API
    content = path.read_bytes()
    path.write_bytes(content.replace(b"\n", b"\r\n", 5))
    (finding,) = structural(path)
    assert (finding.rule, finding.examples) == ("CSV009", ({"LF": 53, "CRLF": 5},))
    path.write_bytes(content.replace(b"\n", b"\r\n"))
    assert structural(path) == []
    path.write_bytes(b"\xef\xbb\xbf" + content)
    (finding,) = structural(path)
    assert (finding.rule, finding.offset) == ("CSV008", 0)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe,x\n1,2\n"], ids=repr)
def test_headers_that_cannot_be_read(content: bytes, tmp_path: Path) -> None:
    folder = copied(tmp_path, API, KERNELS)
    (folder / API).write_bytes(content)
    (report,) = judged(folder, STRUCTURE)
    assert "CSV010" in {one.rule for one in report.findings if one.table == API}
    assert {one.table for one in report.findings} == {API}


def test_slices_are_one_file_with_a_gap(tmp_path: Path) -> None:
    content = (copied(tmp_path, API) / API).read_bytes()
    folder = tmp_path / "mindstudio_profiler_output"
    folder.mkdir()
    head, *rows = (b"host," + row for row in content.splitlines(keepends=True))
    head = head.replace(b"host,", b"Device_id,")
    for number, part in ((0, rows[:10]), (2, rows[10:])):
        path = folder / f"api_statistic_slice_{number}_2026072112000{number}.csv"
        path.write_bytes(head + b"".join(part))
    (report,) = judged(folder, STRUCTURE)
    rules = {one.rule: one for one in report.findings}
    assert rules["CSV031"].expected.startswith("3 slices")
    assert rules["CSV032"].message.startswith("A slice that is not the last one")
    assert rules["CSV032"].file.endswith("slice_0_20260721120000.csv")


def test_older_names_are_known(tmp_path: Path) -> None:
    path = changed(tmp_path, KERNELS, renamed("Block Dim", "Block Num"))
    rules = {one.rule: one.column for one in structural(path)}
    assert rules == {"CSV011": "Block Dim"}


def test_hostile_header_stays_small(tmp_path: Path) -> None:
    folder = tmp_path / OUTPUT
    folder.mkdir()
    names = [f"<b>column</b>\u202e {number}" for number in range(5_000)]
    path = folder / API
    path.write_text(",".join([*names, "Count"]) + "\n" + ",".join(["1"] * 5_001) + "\n")
    findings = structural(path)
    assert {one.rule for one in findings} <= {"CSV011", "CSV012", "CSV013"}
    assert len(findings) < 20
