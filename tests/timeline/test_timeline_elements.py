"""Events read from files: against json on the same text, at any cut, and up to any damage."""

from __future__ import annotations

import json
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_ref.timeline import elements as limits
from ascend_ref.timeline import parts as reader
from ascend_ref.timeline.elements import Elements
from ascend_ref.timeline.event_keys import FURTHER, MAX_FAULTS
from ascend_ref.timeline.read import COLUMNS, element_reader, events_query

REAL = Path(__file__).parents[2] / ".." / "shared" / "data" / "text"
TRACES = (
    "pytorch_level1_rank0/ASCEND_PROFILER_OUTPUT/trace_view.json",
    "mindspore_legacy/msprof_0_2_1.json",
    "mindspore_legacy/step_trace_0_2_1.json",
)

EVENTS = [
    '{"name": "process_name", "ph": "M", "pid": 7, "tid": 0, "args": {"name": "CANN"}}',
    '{"name": "}, {", "ph": "X", "pid": 7, "tid": 1, "ts": "1.500", "dur": 2.25, "args": {}}',
    '{"name":"h\\u00e9\\"","ph":"C","pid":7,"tid":0,"ts":5,"args":{"list":[{"a":1}, {"b":2}]}}',
    '{"name": "d\u00e9", "ph": "s", "id": "12", "pid": 7, "tid": 1, "ts": "3.000", "cat": "x"}',
]


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "PART", 64)


Row = tuple[int, Any]


def read(path: Path) -> tuple[Elements, list[Row]]:
    """The events with their numbers, without those that are no objects."""
    found = Elements(path)
    rows = []
    for batch in found.batches():
        (first,), (text,) = (column.to_pylist() for column in batch.columns)
        rows += [
            (row, event) for row, event in enumerate(json.loads(text), first) if event is not None
        ]
    return found, rows


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "trace_view.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def assert_rows(found: Elements, rows: list[Row], events: list[str], content: bytes) -> None:
    assert found.count == len(events)
    assert rows == [(row, json.loads(event)) for row, event in enumerate(events)]
    for row, event in enumerate(events):
        assert content[found.offset_of(row) :].startswith(event.encode())
    assert found.offset_of(found.count) is None
    assert found.offset_of(-1) is None


@pytest.mark.parametrize(
    "separator", [",", ", ", ",\n", " ,\r\n\t", ",\n        ", "," + " " * 300]
)
@pytest.mark.parametrize("wrapped", ["[{}]", " [\n{}\n]\n", '{{"traceEvents": [{}], "x": [1]}}'])
@pytest.mark.parametrize("size", [40, 64, 100, 1 << 20])
def test_events_are_those_that_json_reads(
    separator: str, wrapped: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "PART", size)
    events = EVENTS * 5
    content = wrapped.format(separator.join(events)).encode()
    if size < 50 and wrapped.startswith("{"):
        pytest.skip("the key must stand in the first part")
    found, rows = read(write(tmp_path, content))
    assert found.damage is None
    assert found.in_object == wrapped.startswith("{")
    assert not found.faults.found
    assert_rows(found, rows, events, content)


@given(
    events=st.lists(st.sampled_from(EVENTS), max_size=12),
    gaps=st.lists(st.text(" \t\r\n", max_size=3), min_size=30, max_size=30),
    size=st.integers(8, 400),
)
@settings(max_examples=150, deadline=None)
def test_any_spacing_and_any_cut(
    events: list[str], gaps: list[str], size: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    parts = [f"{gaps[2 * place]}{event}{gaps[2 * place + 1]}" for place, event in enumerate(events)]
    content = ("[" + ",".join(parts) + "]").encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "PART", size)
        found, rows = read(write(tmp_path_factory.mktemp("trace"), content))
    assert found.damage is None
    assert_rows(found, rows, events, content)


@pytest.mark.parametrize("size", [64, 1 << 20])
def test_truncation_at_every_byte(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "PART", size)
    content = ("[" + ", ".join(EVENTS) + "]").encode()
    ends = []
    at = 1
    for event in EVENTS:
        at += len(event.encode())
        ends.append(at)
        at += 2
    for cut in range(len(content)):
        found, rows = read(write(tmp_path, content[:cut]))
        whole = sum(end <= cut for end in ends)
        assert_rows(found, rows, EVENTS[:whole], content)
        assert found.damage is not None
        assert found.damage.offset == cut
        assert found.count == whole


DAMAGES = {
    "unescaped-quote": ('"na"me"', 4, "not escaped"),
    "control-character": ('"na\tme"', 3, "control character 0x09"),
    "not-a-number": ("NaN", 0, "NaN is no JSON"),
    "bad-utf8": (b'"na\xff"', 3, "byte 0xff is not UTF-8"),
    "bad-escape": ('"\\x"', 2, "begins no escape"),
    "missing-comma": ('"n" "ph": "X"', 4, "a comma is missing"),
}


@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.parametrize("size", [64, 4096, 1 << 20])
@pytest.mark.parametrize("before", [0, 1, 50])
def test_damage_is_at_its_byte_and_what_stands_before_is_read(
    kind: str, size: int, before: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "PART", size)
    value, inside, reason = DAMAGES[kind]
    raw = value if isinstance(value, bytes) else value.encode()
    sound = [EVENTS[0]] * before
    head = ("[" + "".join(f"{event},\n" for event in sound) + '{"name": ').encode()
    content = head + raw + b', "ph": "X", "pid": 1, "tid": 1},\n' + EVENTS[0].encode() * 3
    found, rows = read(write(tmp_path, content))
    assert_rows(found, rows, sound, content)
    assert found.damage is not None
    assert found.damage.offset == len(head) + inside
    assert reason in found.damage.reason


@pytest.mark.parametrize(
    ("content", "offset", "reason"),
    [
        (b"", 0, "expected the bracket"),
        (b"  x", 2, "expected the bracket"),
        (b"\xff\xfe[\0]\0", 0, "UTF-16"),
        (b'{"other": [1]}', 13, "expected a list of events under traceEvents"),
        (b'{"traceEvents": 5}', 17, "expected a list of events under traceEvents"),
        (b'{"a" 1}', 5, "colon"),
        (b"[] x", 3, "something follows"),
        (b"[{}]]", 4, "something follows"),
        (b'{"traceEvents": [], "a": NaN}', 25, "NaN"),
        (b'{"traceEvents": []', 18, "the file ends"),
        (b"[{},]", 4, "a comma before ']'"),
        (b"[,{}]", 1, "expected a value"),
    ],
)
def test_texts_around_the_events(content: bytes, offset: int, reason: str, tmp_path: Path) -> None:
    found, _ = read(write(tmp_path, content))
    assert found.damage is not None
    assert reason in found.damage.reason
    assert found.damage.offset == offset


def test_byte_order_mark_is_told_and_passed_over(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf[" + EVENTS[0].encode() + b"]"
    found, rows = read(write(tmp_path, content))
    assert found.marked
    assert found.damage is None
    assert_rows(found, rows, EVENTS[:1], content)


def test_keys_of_a_wrong_type_are_counted_with_their_first_place(
    tmp_path: Path, small_parts: None
) -> None:
    bad = [
        '{"pid": "3"}',
        '{"pid": 1.5, "tid": null}',
        '{"pid": 9223372036854775808}',
        '{"name": 5, "color": "red"}',
        '{"args": [], "dur": "5"}',
        "5",
        '"x"',
        '{"pid": "4"}',
    ]
    events = [EVENTS[0], *bad, EVENTS[0]]
    content = ("[" + ", ".join(events) + "]").encode()
    found, rows = read(write(tmp_path, content))
    assert found.damage is None
    assert [row for row, _ in rows] == [0, 1, 2, 3, 4, 5, 8, 9]
    told = {(one.key, one.found): (one.row, one.count) for one in found.faults.found.values()}
    assert told == {
        ("pid", "string"): (1, 2),
        ("pid", "number"): (2, 2),
        ("tid", "null"): (2, 1),
        ("name", "integer"): (4, 1),
        ("color", "unknown"): (4, 1),
        ("args", "array"): (5, 1),
        ("dur", "string"): (5, 1),
        ("", "integer"): (6, 1),
        ("", "string"): (7, 1),
    }
    first = found.faults.found["name", "integer"]
    assert content[first.offset :].startswith(b'{"name": 5')


def test_invented_keys_are_not_told_apart_without_end(tmp_path: Path) -> None:
    content = "[" + ",".join(f'{{"key{n}": 1}}' for n in range(1000)) + "]"
    found, _ = read(write(tmp_path, content))
    assert len(found.faults.found) == MAX_FAULTS + 1
    assert found.faults.found[FURTHER, "unknown"].count == 1000 - MAX_FAULTS


def test_one_endless_event_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "PART", 1024)
    monkeypatch.setattr(limits, "MAX_EVENT", 10_000)
    content = "[" + EVENTS[0] + ', {"name": "' + "x" * 100_000 + '"}]'
    found, rows = read(write(tmp_path, content))
    assert len(rows) == 1
    assert found.damage is not None
    assert found.damage.offset == len(EVENTS[0]) + 3
    assert "one value of more than 10,000 bytes" in found.damage.reason


def test_memory_does_not_grow_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "PART", 1 << 18)
    peaks = []
    for number in (4_000, 16_000):
        path = write(tmp_path, "[" + ", ".join(EVENTS[:2] * number) + "]")
        tracemalloc.start()
        found = Elements(path)
        for _ in found.batches():
            pass
        assert found.count == 2 * number
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


@pytest.mark.parametrize("most", [1, 3, 1000])
def test_many_events_in_one_part_are_handed_on_bit_by_bit(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_AT_ONCE", most)
    path = write(tmp_path, "[" + ", ".join([*EVENTS, "5", *EVENTS]) + "]")
    found, rows = read(path)
    assert max(len(batch["text"][0].as_py()) for batch in Elements(path).batches()) < most * 120
    wanted = [(row, json.loads(event)) for row, event in enumerate([*EVENTS, "5", *EVENTS])]
    assert rows == [one for one in wanted if one[1] != 5]
    assert found.count == 9


@pytest.mark.parametrize("name", TRACES)
def test_real_traces_are_read_as_json_reads_them(name: str) -> None:
    path = REAL / name
    if not path.is_file():
        pytest.skip(f"needs the real files of {REAL}")
    with closing(duckdb.connect(config={"threads": 1})) as connection:
        connection.register("elements", element_reader(Elements(path)))
        found = connection.sql(events_query("elements")).fetchall()
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in found]
    rows.sort(key=lambda row: row["row"])
    events = json.loads(path.read_text())
    assert len(rows) == len(events)
    for row, event in zip(rows, events, strict=True):
        assert plain(row) == wanted(event)


def plain(row: dict[str, Any]) -> dict[str, Any]:
    args = None if row["args"] is None else json.loads(row["args"])
    keys = ("ph", "name", "cat", "id", "pid", "tid", "ts", "dur", "bp")
    return {"args": args, **{key: row[key] for key in keys}}


def wanted(event: dict[str, Any]) -> dict[str, Any]:
    ts = event.get("ts")
    if isinstance(ts, str):
        whole, _, part = ts.partition(".")
        ts = int(whole) * 1000 + int(f"{part:0<3}")
    elif ts is not None:
        ts = round(ts * 1000)
    identity = event.get("id")
    return {
        **{key: event.get(key) for key in ("ph", "name", "cat", "pid", "tid", "bp", "args")},
        "dur": None if event.get("dur") is None else float(event["dur"]),
        "id": None if identity is None else str(identity),
        "ts": ts,
    }
