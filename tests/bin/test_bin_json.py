"""Payload texts: what is refused and where, and the way back to the same bytes."""

from __future__ import annotations

import json
import tracemalloc
from mmap import mmap
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_blocks import REAL, real

from ascend_ref.bin import MalformedPayload, canonical, iterate_events, open_file, parse
from ascend_ref.bin import stream as stream_module
from ascend_ref.json_place import place_of

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts
)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4)
)


@pytest.mark.parametrize("name", REAL)
def test_real_payloads_come_back_byte_for_byte(name: str) -> None:
    with open_file(real(name)) as file:
        for entry in file.entries:
            payload = bytes(file.payload(entry))
            assert canonical(parse(payload)) == payload


@given(values)
def test_a_canonical_text_is_json_with_sorted_keys(value: Any) -> None:
    text = canonical(value)
    assert json.loads(text) == value
    assert parse(text) == value
    assert canonical(parse(text)) == text


def test_control_characters_and_other_scripts() -> None:
    assert canonical({"µ": '\x01\t"\\/\x7f算'}) == '{"µ":"\\u0001\\t\\"\\\\/\x7f算"}'.encode()


@pytest.mark.parametrize(
    ("payload", "offset"),
    [
        (b'{"a":}', 5),
        (b'{"a":1', 6),
        (b'{"a":NaN}', 5),
        (b'{"NaN":-Infinity}', 7),
        (b'{"a":1e999}', 5),
        (b'{"a":"\xff"}', 6),
        ('{"µ":nul}'.encode(), 6),
        (b'["\\ud800"]', 2),
        (b"[%s]" % (b"7" * 5000), 1),
        (b"[" * 100_000, 0),
        (b"[" * 500 + b"]" * 500, 0),
        (b"", 0),
        (b"\xef\xbb\xbf{}", 0),
    ],
)
def test_what_is_no_json_is_refused_at_its_byte(payload: bytes, offset: int) -> None:
    with pytest.raises(MalformedPayload) as refused:
        parse(payload)
    assert refused.value.offset == offset


def test_a_flood_of_values_is_refused_before_it_is_read() -> None:
    with pytest.raises(MalformedPayload, match="at most 20,000,000"):
        parse(b"[" + b"0," * 20_000_001 + b"0]")


def test_a_text_beyond_what_is_read_is_not_copied() -> None:
    endless = mmap(-1, (256 << 20) + 1)  # costs memory where it is touched
    tracemalloc.start()
    with pytest.raises(MalformedPayload, match="268,435,457 bytes; at most 268,435,456 are read"):
        parse(memoryview(endless))
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


@given(values, st.data())
def test_a_pointer_leads_to_the_byte_of_its_value(value: Any, data: st.DataObject) -> None:
    pointer = ""
    inner = value
    while isinstance(inner, (dict, list)) and inner and data.draw(st.booleans()):
        if isinstance(inner, dict):
            key = data.draw(st.sampled_from(sorted(inner)))
            pointer += "/" + key.replace("~", "~0").replace("/", "~1")
            inner = inner[key]
        else:
            index = data.draw(st.integers(0, len(inner) - 1))
            pointer += f"/{index}"
            inner = inner[index]
    for payload in (canonical(value), json.dumps(value, indent=2).encode()):
        at = place_of(payload, pointer)
        found, _ = json.JSONDecoder().raw_decode(payload[at:].decode())
        assert found == inner


def test_a_pointer_that_leads_nowhere_ends_at_the_last_value_on_its_way() -> None:
    assert place_of(b'{"a": [1, 2]}', "/a/7/b") == 6
    assert place_of(b' {"a": 1}', "/b") == 1
    long = b'{"a": ' + b"9" * 5_000 + b', "b": NaN, "\xc3\xa9": [1e999, 7]}'
    assert place_of(long, "/\xe9/1") == len(long) - 3


@given(st.lists(values, max_size=5), st.integers(1, 9), st.integers(0, 2))
def test_events_are_those_of_the_whole_text(events: list[Any], window: int, indent: int) -> None:
    document = {"a": [1, {"traceEvents": 2}], "traceEvents": events, "z": 1.5}
    payload = json.dumps(document, ensure_ascii=False, indent=indent or None).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream_module, "WINDOW", window)
        found = list(iterate_events(payload))
    assert [event for _, event in found] == events
    for at, event in found:
        assert json.JSONDecoder().raw_decode(payload[at:].decode())[0] == event


@given(st.lists(values, max_size=3), st.data())
def test_a_broken_text_is_refused_by_both_readers(events: list[Any], data: st.DataObject) -> None:
    payload = bytearray(canonical({"traceEvents": events, "x": 1}))
    payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    refused = False
    try:
        document = parse(bytes(payload))
    except MalformedPayload:
        refused = True
    if refused or not isinstance(document, dict):
        with pytest.raises(MalformedPayload):
            list(iterate_events(bytes(payload)))
    elif isinstance(document.get("traceEvents"), list):
        assert [event for _, event in iterate_events(bytes(payload))] == document["traceEvents"]


def test_half_a_surrogate_pair_in_an_event_is_refused() -> None:
    good = b'{"traceEvents":[{"a":1},{"a":"\\ud83d\\ude00"}'
    assert [event for _, event in iterate_events(good + b"]}")][1] == {"a": "\U0001f600"}
    with pytest.raises(MalformedPayload, match="half a surrogate pair") as refused:
        list(iterate_events(good + b',{"a":"\\ud83d"}]}'))
    assert refused.value.offset == len(good) + 1


def test_a_flood_of_members_beside_the_events_is_refused() -> None:
    payload = b'{"traceEvents":[1]' + b',"a":1' * 20_000 + b"}"
    with pytest.raises(MalformedPayload, match="more than 10,000 members"):
        list(iterate_events(payload))


def test_one_endless_event_is_refused() -> None:
    payload = b'{"traceEvents":["' + b"x" * (40 << 20) + b'"]}'
    with pytest.raises(MalformedPayload, match="more than 16,777,216 bytes"):
        list(iterate_events(payload))
