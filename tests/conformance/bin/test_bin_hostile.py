"""Damaged and hostile files: findings or one clear line, never an exception, never much work."""

from __future__ import annotations

import json
import random

import handmade
import handmade_sources
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ascend_conformance.engine.work
import ascend_conformance.media.bin.facts
import ascend_conformance.media.bin.gather
import ascend_conformance.media.bin.structure
from ascend_conformance.finding import FileReport
from ascend_conformance.media.bin.judge import judge_bin, judge_content
from ascend_ref.bin import Block, canonical, parse, read_blocks, to_bytes

SMALL = to_bytes(
    [
        Block(0x0F, canonical(handmade_sources.stall_reasons())),
        Block(0x01, b"int a;\n", path=b"/a.cpp"),
    ]
)
CELLS = [
    *(index for index in range(len(SMALL)) if not 250 < index < len(SMALL) - 24),
    *range(250, len(SMALL) - 24, 512),
]
"""Every byte but those of the zeros behind the path, of which some."""

HOSTILE = [
    "",
    "{",
    "[]",
    "null",
    "1e999",
    "NaN",
    '{"a":NaN}',
    '{"a":' + "9" * 5_000 + "}",
    '{"a":18446744073709551616,"b":-9223372036854775809}',
    '{"Cores":' + "[" * 5_000 + "]" * 5_000 + "}",
    '{"Cores":["\\ud800"],"Instructions":[],"Files":[]}',
    '{"traceEvents":[{"ph":"X","name":"\\ud800","pid":"<script>","tid":1,"ts":1,"dur":1}]}',
    '{"traceEvents":[1,null,[],{"ph":{}},{"ph":"B","id":[],"args":{"pc_addr":[]}}]}',
    '{"traceEvents":[{"ph":"X"}],"traceEvents":[]}',
    '{"traceEvents":{}}',
    '{"traceEvents":[]}',
    '{"\\u0000":{"\\n":"\\u001b[31m"},"name":"<script>alert(1)</script>"}',
    '{"a":1,"a":2}',
    '\ufeff{"a":1}',
    '{"subblock_detail":[null,1,"x",[],{}],"core_memory_map":[[],{"memory_unit":[{}]}]}',
    '{"multiple_rooflines":[{"rooflines":[{"point":[1e308,1e308],"bw":1e308,"ratio":"1e309"}]}]}',
    '{"Instructions":[{"Address":"0xffffffffffffffff","ScalarCycles":[9223372036854775807]}]}',
    '{"table_per_block":[{"table_detail":[{"row":[{"value":["' + "9" * 39 + '"]}]}]}]}',
]


def require_sound(report: FileReport) -> None:
    """What a report promises whatever the file holds: texts on one line, of bounded length."""
    for finding in report.findings:
        shown = [finding.message, finding.place, finding.pointer or ""]
        shown += [str(value) for example in finding.examples for value in example.values()]
        assert all(text.isprintable() for text in shown), shown
        assert sum(map(len, shown)) < 4_000
        assert finding.verdict in ("violation", "advice", "note")
        assert finding.count >= 1
    assert len(report.findings) < 400
    assert report.unreadable is None or report.unreadable.isprintable()


@pytest.mark.campaign
def test_every_changed_byte_is_found_or_makes_another_sound_file():
    unnoticed = 0
    for index in CELLS:
        for change in (0x01, 0x80):
            damaged = bytearray(SMALL)
            damaged[index] ^= change
            report = judge_content(bytes(damaged), "small.bin")
            if not (report.findings or report.unreadable):
                unnoticed += 1
                require_rewritable(bytes(damaged))
    assert 0 < unnoticed < 0.4 * 2 * len(CELLS)


def require_rewritable(content: bytes) -> None:
    """The blocks can be read in full and written again to the same bytes."""
    file = read_blocks(content, "small.bin")
    blocks = [
        Block(one.type, file.payload(one), file.path(one) if one.type == 1 else None, one.version)
        for one in file.entries
    ]
    assert to_bytes(blocks) == content
    assert all(parse(block.payload) is not None for block in blocks if block.type != 1)


@pytest.mark.exhaustive
def test_every_truncation_is_found():
    boundaries = {entry.stop for entry in read_blocks(SMALL, "small.bin").entries}
    for size in CELLS:
        report = judge_content(SMALL[:size], "small.bin")
        assert report.findings or report.unreadable or size in boundaries


@pytest.mark.parametrize("code", [0x02, 0x04, 0x05, 0x08, 0x0D])
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_payloads_are_judged(code, text):
    content = to_bytes([Block(code, text.encode("utf-8", "surrogatepass"))])
    report = judge_content(content, "hostile.bin")
    assert report.findings or report.unreadable
    require_sound(report)


@given(st.data())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_values_of_any_kind_at_any_place_are_judged(data):
    file = read_blocks(handmade.device_file("vector"), "vector.bin")
    entries = [entry for entry in file.entries if entry.type not in (0x01, 0x0A, 0x0B)]
    entry = data.draw(st.sampled_from(entries))
    payload = parse(file.payload(entry))
    values = [None, True, -1, 2**70, 1.5, "", "x" * 3_000, "\n\x1b", [], {}, [[[]]], {"": {}}]
    put_somewhere(payload, data.draw(st.sampled_from(values)), data.draw(st.randoms()))
    blocks = [
        Block(one.type, canonical(payload) if one is entry else file.payload(one))
        for one in entries
    ]
    require_sound(judge_content(to_bytes(blocks), "vector.bin"))


def put_somewhere(payload, value, choice: random.Random) -> None:
    place = payload
    while True:
        keys = sorted(place) if isinstance(place, dict) else range(len(place))
        key = choice.choice(list(keys))
        deeper = place[key]
        if not (isinstance(deeper, (dict, list)) and deeper) or choice.random() < 0.2:
            place[key] = value
            return
        place = deeper


@given(st.binary(max_size=60), st.integers(0, 2**64 - 1), st.integers(0, 255), st.integers(0, 3))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_any_block_behind_a_good_one_is_judged(payload, size, kind, padding):
    header = size.to_bytes(8, "little") + bytes([kind, padding, 0x5A, 0x5A])
    require_sound(judge_content(SMALL + header + payload, "small.bin"))


def test_what_is_no_such_file_is_one_line(tmp_path):
    path = tmp_path / "visualize_data.bin"
    path.write_bytes(b"SQLite format 3\0" * 4)
    report = judge_bin(path)
    assert report.findings == ()
    assert "visualize_data.bin" in (report.unreadable or "")
    assert "\n" not in (report.unreadable or "")
    assert judge_bin(tmp_path / "absent.bin").unreadable


def test_a_payload_larger_than_is_read_is_not_parsed(monkeypatch):
    monkeypatch.setattr(ascend_conformance.media.bin.gather, "TEXT_LIMIT", 1_000)
    report = judge_content(handmade.device_file("vector"), "vector.bin")
    large = [finding for finding in report.findings if finding.rule == "BIN103"]
    assert "0x09 memory tables" in {finding.table for finding in large}
    reasons = {skip.reason for skip in report.skipped}
    assert reasons == {"the payload is larger than viewers read"}


def test_a_query_that_multiplies_is_given_up(monkeypatch):
    monkeypatch.setattr(ascend_conformance.engine.work, "OPERATIONS", 0)
    monkeypatch.setattr(ascend_conformance.engine.work, "OPERATIONS_PER_ROW", 25)
    basic = handmade.basic(handmade.Operator("910B", "mix"))
    heat_map = handmade.heat_map(handmade.Operator("910B", "mix"))
    tables = handmade.tables(handmade.Operator("910B", "mix"))
    core = heat_map["core_memory_map"][0]
    core["memory_unit"] = [core["memory_unit"][2]] * 600
    tables["table_per_block"] = tables["table_per_block"][:1] * 100
    payloads = {0x05: basic, 0x08: heat_map, 0x09: tables}
    content = to_bytes([Block(code, dumped(one)) for code, one in payloads.items()])
    report = judge_content(content, "mix.bin")
    assert "BIN606" in {skip.rule for skip in report.skipped if "given up" in skip.reason}
    require_sound(report)


def dumped(payload) -> bytes:
    return json.dumps(payload, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()


def test_a_payload_full_of_errors_is_given_up(monkeypatch):
    monkeypatch.setattr(ascend_conformance.media.bin.structure, "ERRORS", 1_000)
    content = to_bytes([Block(0x09, dumped({"table_per_block": [True] * 50_000}))])
    report = judge_content(content, "wrong.bin")
    (finding,) = (one for one in report.findings if one.rule == "BIN121")
    assert 1_000 <= finding.count < 2_000
    assert finding.pointer == "/table_per_block/0"
    assert "given up" in report.skipped[0].reason


def test_more_rows_than_are_taken_are_not_judged(monkeypatch):
    monkeypatch.setattr(ascend_conformance.media.bin.facts, "ROWS", 30)
    report = judge_content(handmade.device_file("mix"), "mix.bin")
    assert report.findings == ()
    assert "BIN606" in {skip.rule for skip in report.skipped if "more rows" in skip.reason}


def test_a_size_of_2_to_the_63_allocates_nothing():
    content = bytearray(SMALL)
    content[7] = 0x80
    report = judge_content(bytes(content), "small.bin")
    assert {finding.rule for finding in report.findings} == {"BIN003"}
