"""Checks of packed records: whole arrays give what one record after the other gives."""

from __future__ import annotations

import construct
import handmade
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_conformance.media.bin import records as checks
from ascend_conformance.media.bin.judge import judge_content
from ascend_conformance.media.bin.records import (
    CACHE_BLOCK,
    DECLARATIONS,
    TRACE_BLOCK,
    judge_records,
    record_rules,
)
from ascend_ref.bin import Block, to_bytes
from ascend_ref.bin.records import CACHE_DTYPE, TRACE_DTYPE, memory_trace_payload
from ascend_spec.bin import TRACE_RECORD

RECORD = 32
DTYPES = {TRACE_BLOCK: TRACE_DTYPE, CACHE_BLOCK: CACHE_DTYPE}


def total(record, names):
    return sum(record[name] for name in names)


PLAIN = {
    "member": lambda record, search: isinstance(record[search.fields[0]], construct.EnumInteger),
    "negative": lambda record, search: record[search.fields[0]] < 0,
    "wraps": lambda record, search: total(record, search.fields) >= 2**64,
    "sum-differs": lambda record, search: (
        total(record, search.fields) != total(record, search.others)
    ),
    "sum-above": lambda record, search: total(record, search.fields) > total(record, search.others),
}
"""The checks on one record that construct has parsed; it leaves what is no member a number."""


def judged_plainly(content: bytes, block: int):
    records = construct.Array(len(content) // RECORD, DECLARATIONS[block]).parse(content)
    for rule, search in record_rules(block):
        bad = [at for at, one in enumerate(records) if PLAIN[search.check](one, search)]
        if bad:
            yield rule.id, len(bad), bad[0]


@pytest.mark.parametrize("block", DTYPES)
@given(data=st.data())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_both_ways_find_the_same_records(block, data):
    """Bytes near the edges of the enums, and any others."""
    byte = st.one_of(st.sampled_from([0, 1, 2, 4, 5, 6, 7, 0x7F, 0x80, 0xFF]), st.integers(0, 255))
    records = data.draw(st.lists(st.lists(byte, min_size=32, max_size=32), max_size=12))
    content = b"".join(map(bytes, records))
    array = np.frombuffer(content, DTYPES[block])
    found = [(one.rule.id, one.count, one.first) for one in judge_records(array, block)]
    assert found == list(judged_plainly(content, block))


def test_the_first_bad_record_is_found_behind_a_chunk(monkeypatch):
    monkeypatch.setattr(checks, "CHUNK", 8)
    records = np.zeros(20, TRACE_DTYPE)
    records["space"][[13, 17]] = 7
    (fault,) = judge_records(records, TRACE_BLOCK)
    assert (fault.rule.id, fault.count, fault.first) == ("BIN852", 2, 13)


def test_clean_records_have_no_fault():
    records = np.zeros(5, CACHE_DTYPE)
    records["loadCount"] = 0xFFFFFFFF
    records["storeCount"] = 0xFFFFFFFF
    records["hit"] = 0xFFFFFFFF
    records["miss"] = 0xFFFFFFFF
    assert judge_records(records, CACHE_BLOCK) == []


def test_every_enumeration_of_the_declaration_has_a_rule():
    enums = [
        field.name for field in TRACE_RECORD.subcons if isinstance(field.subcon, construct.Enum)
    ]
    members = [
        search.fields[0] for _, search in record_rules(TRACE_BLOCK) if search.check == "member"
    ]
    assert members == enums


def test_a_finding_tells_record_field_and_byte():
    records = np.zeros(3, TRACE_DTYPE)
    records["space"][2] = -5
    content = to_bytes([Block(0x0A, memory_trace_payload(records, b"[]"))])
    (finding,) = judge_content(content, "trace.bin").findings
    assert finding.rule == "BIN852"
    assert finding.table == "0x0A memory access timeline"
    assert finding.column == "space"
    assert finding.examples[0]["record"] == 2
    assert content[finding.offset] == 0xFB
    assert finding.offset == 12 + 8 + 2 * RECORD + 2


def test_call_stacks_are_judged_as_json():
    content = to_bytes([Block(0x0A, memory_trace_payload(np.zeros(1, TRACE_DTYPE), b'[{"A":1}]'))])
    findings = judge_content(content, "trace.bin").findings
    missing = [finding for finding in findings if finding.rule == "BIN122"]
    assert {finding.column for finding in missing} == {"/*/Address", "/*/ModuleName", "/*/Symbol"}
    assert content[missing[0].offset :].startswith(b'{"A":1}')


def test_sections_that_do_not_fit_are_unreadable():
    content = bytearray(handmade.device_file("vector"))
    content[-8] ^= 0x01  # within the last record of 0x0B: sound
    cut = to_bytes([Block(0x0A, b"\x07" + bytes(31)), Block(0x0B, bytes(33))])
    assert [(one.rule, one.table) for one in judge_content(cut, "cut.bin").findings] == [
        ("BIN101", "0x0A memory access timeline"),
        ("BIN101", "0x0B cache records"),
    ]
