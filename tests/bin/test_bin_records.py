"""Packed records: the fast way against construct's own."""

from __future__ import annotations

from typing import Any

import construct
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascend_ref.bin import MalformedPayload
from ascend_ref.bin.records import (
    CACHE_DTYPE,
    TRACE_DTYPE,
    cache_payload,
    memory_trace_payload,
    read_cache_records,
    read_memory_trace,
)
from ascend_spec import bin_catalog
from ascend_spec.bin import CACHE_RECORD, CACHE_RECORDS, HEADER, MEMORY_TRACE, TRACE_RECORD
from ascend_spec.core.packed import dtype_of, struct_of

DECLARATIONS = {"trace": TRACE_RECORD, "cache": CACHE_RECORD, "header": HEADER}


def test_offsets_of_the_documented_structs() -> None:
    """bin-blocks.md 4: offsets of both records, without gaps."""
    assert {name: place[1] for name, place in (TRACE_DTYPE.fields or {}).items()} == {
        "type": 0,
        "coreId": 1,
        "space": 2,
        "blockType": 3,
        "recordId": 4,
        "addr": 8,
        "memSize": 16,
        "pc": 24,
    }
    assert [place[1] for place in (CACHE_DTYPE.fields or {}).values()] == list(range(0, 32, 4))


def test_every_field_of_a_record_is_explained() -> None:
    fields = [*TRACE_RECORD.subcons, *CACHE_RECORD.subcons]
    assert [field.name for field in fields if not field.docs.endswith(".")] == []
    for field in fields:
        assert {
            one.partition(" ")[0] for one in field.facts.source
        } <= bin_catalog().documents.sources.keys()
        assert set(field.facts.errata) <= bin_catalog().errata.keys()


@given(st.sampled_from(sorted(DECLARATIONS)), st.data())
def test_any_bytes_read_as_construct_reads_them(name: str, data: st.DataObject) -> None:
    declaration = DECLARATIONS[name]
    count = data.draw(st.integers(0, 4))
    size = declaration.sizeof() * count
    content = data.draw(st.binary(min_size=size, max_size=size))
    slow = construct.Array(count, declaration).parse(content)
    fast = np.frombuffer(content, dtype_of(declaration))
    names = [field.name for field in declaration.subcons]
    assert [[int(row[one]) for one in names] for row in slow] == [
        list(row) for row in fast.tolist()
    ]
    assert list(struct_of(declaration).iter_unpack(content)) == fast.tolist()


@given(st.integers(0, 5), st.binary(max_size=20), st.sampled_from(["bytes", "records"]), st.data())
def test_a_memory_trace_comes_back(
    count: int, stacks: bytes, unit: Any, data: st.DataObject
) -> None:
    content = data.draw(st.binary(min_size=32 * count, max_size=32 * count))
    records = np.frombuffer(content, TRACE_DTYPE)
    payload = memory_trace_payload(records, stacks, unit)
    trace = read_memory_trace(payload)
    assert trace.records.tobytes() == content
    assert bytes(trace.call_stacks) == stacks
    assert memory_trace_payload(trace.records, stacks, trace.length_unit) == payload
    if unit == "bytes":
        declared = MEMORY_TRACE.parse(bytes(payload))
        assert [int(row.recordId) for row in declared.records] == records["recordId"].tolist()
        assert declared.callStacks == stacks
        assert MEMORY_TRACE.build(declared) == payload


def test_the_first_length_may_count_records() -> None:
    one = memory_trace_payload(np.zeros(3, TRACE_DTYPE), b"[]", "records")
    assert int.from_bytes(one[:8], "little") == 3
    trace = read_memory_trace(one)
    assert (len(trace.records), trace.length_unit) == (3, "records")


@pytest.mark.parametrize(
    "payload", [b"", b"1234567", bytes(7), b"\xff" * 8 + bytes(40), bytes(8) + b"\x05" + bytes(7)]
)
def test_lengths_that_lead_nowhere(payload: bytes) -> None:
    with pytest.raises(MalformedPayload):
        read_memory_trace(payload)


def test_cache_records_fill_their_payload() -> None:
    records = np.arange(16, dtype="<u4").view(CACHE_DTYPE)
    payload = cache_payload(records)
    assert read_cache_records(payload).tolist() == records.tolist()
    assert [row.hit for row in CACHE_RECORDS.parse(bytes(payload))] == [3, 11]
    with pytest.raises(MalformedPayload, match="3 bytes follow") as refused:
        read_cache_records(bytes(67))
    assert refused.value.offset == 64
