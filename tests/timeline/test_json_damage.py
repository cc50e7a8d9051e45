"""Where a text stops being JSON: against a recogniser that is written down another way."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_json import first_bad_byte

from ascend_ref.json_damage import MAX_DEPTH, find_damage, scan_value

SOUND = (
    b'[{"ph": "X", "name": "a\\"b\\u00e9\\ud83d\\ude00", "ts": "1.500", "dur": -0.5e-3, '
    b'"args": {"a": [1, 20, 0.25, true, false, null], "b": {}}, "c": []}, \n{"n": "h\xc3\xa9"}]'
)

KINDS = {
    b'[{"a": "un"escaped"}]': (11, "a quote in it is not escaped"),
    b'[{"a": "tab\there"}]': (11, "control character 0x09"),
    b'[{"a": "line\nbreak"}]': (12, "control character 0x0a"),
    b'[{"a": "zero\x00"}]': (12, "control character 0x00"),
    b'[{"a": NaN}]': (7, "NaN is no JSON"),
    b'[{"a": Infinity}]': (7, "Infinity is no JSON"),
    b'[{"a": -Infinity}]': (8, "-Infinity is no JSON"),
    b'[{"a": 1} {"b": 2}]': (10, "a comma is missing"),
    b'[{"a": 1 "b": 2}]': (9, "a comma is missing"),
    b'[{"a": 1},]': (10, "a comma before ']'"),
    b'[{"a": 1,}]': (9, "a comma before '}'"),
    b'[{"a": "\xff"}]': (8, "byte 0xff is not UTF-8"),
    b'[{"a": "\xc3("}]': (8, "byte 0xc3 is not UTF-8"),
    b'[{"a": "\xed\xa0\x80"}]': (8, "is not UTF-8"),
    b'[{"a": "\\x41"}]': (9, "begins no escape"),
    b'[{"a": "\\u12g4"}]': (12, "begins no escape"),
    b'[{"a": "\\ud800"}]': (8, "half of a surrogate pair"),
    b'[{"a": "\\udc00"}]': (8, "half of a surrogate pair"),
    b'[{"a": 01}]': (8, "a zero before it"),
    b'[{"a": 1.}]': (9, "no number"),
    b'[{"a": +1}]': (7, "expected a value"),
    b'[{"a": tru}]': (10, "no literal"),
    b"[{'a': 1}]": (2, "expected a key"),
    b"[{a: 1}]": (2, "expected a key"),
    b'[{"a" 1}]': (6, "expected a colon"),
    b"[1, /* no */ 2]": (4, "expected a value"),
    b"[1] 2": (4, "something follows"),
    b'[{"a": "x': (9, "the file ends inside a text"),
    b'[{"a": [1': (9, "the file ends inside 3 lists and objects"),
    b"[": (1, "the file ends inside a list or object"),
    b" ": (1, "the file ends where a value is expected"),
}


@pytest.mark.parametrize("text", KINDS, ids=repr)
def test_kind_of_damage_is_named_at_its_byte(text: bytes) -> None:
    offset, reason = KINDS[text]
    damage = find_damage(text)
    assert damage is not None
    assert damage.offset == offset == first_bad_byte(text)
    assert reason in damage.reason


@pytest.mark.parametrize("text", [SOUND, b"0", b" -1.5e3 ", b'"x"', b"null", b"[]", b"{ }"])
def test_sound_text_has_no_damage(text: bytes) -> None:
    json.loads(text)
    assert find_damage(text) is None


@given(st.integers(0, len(SOUND) - 1), st.sampled_from([*b'"\\{}[]:,0-.eE tn\x00\x1f\xff\xc3', -1]))
@settings(max_examples=400, deadline=None)
def test_any_changed_byte_is_judged_as_by_the_plain_recogniser(place: int, byte: int) -> None:
    new = b"" if byte < 0 else bytes([byte])
    text = SOUND[:place] + new + SOUND[place + 1 :]
    damage = find_damage(text)
    assert (None if damage is None else damage.offset) == first_bad_byte(text)


@given(st.binary(max_size=40))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_judged_as_by_the_plain_recogniser(text: bytes) -> None:
    damage = find_damage(b"[" + text)
    assert (None if damage is None else damage.offset) == first_bad_byte(b"[" + text)


def test_every_prefix_is_unfinished() -> None:
    for end in range(len(SOUND)):
        assert find_damage(SOUND[:end]).offset == end
        assert scan_value(SOUND[:end]).unfinished


@given(st.integers(0, len(SOUND) - 1), st.sampled_from([*b'"\\{}[]:,0-.eE tn\x00\x1f\xff\xc3']))
@settings(max_examples=300, deadline=None)
def test_the_fast_reader_refuses_what_has_damage(place: int, byte: int) -> None:
    text = SOUND[:place] + bytes([byte]) + SOUND[place + 1 :]
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
        text.decode()
        sound = True
    except (msgspec.DecodeError, UnicodeDecodeError):
        sound = False
    assert sound == (find_damage(text) is None)


def test_deep_nesting_ends_at_its_bracket() -> None:
    text = b"[" * 100_000
    assert find_damage(text).offset == MAX_DEPTH
    sound = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert find_damage(sound) is None


@pytest.mark.parametrize("escapes", [998, 999, 1_000, 1_998, 2_500])
def test_a_text_may_have_any_number_of_escapes(escapes: int) -> None:
    text = b'["' + b"a\\n" * escapes
    assert find_damage(text + b'\\ud83d\\ude00b"]') is None
    damage = find_damage(text + b'\\x41"]')
    assert damage is not None
    assert damage.offset == len(text) + 1
