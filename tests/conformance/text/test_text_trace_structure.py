"""One fault in a timeline, one finding: by the right rule, at the right byte."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from slices import some
from text_folders import DATA, RANK, STRUCTURE, judged, needs_data, structural

from ascend_conformance.finding import FileReport

Events = list[dict[str, Any]]
TRACE = "trace_view.json"


def spelled(events: Events) -> bytes:
    return json.dumps(events).encode()


@pytest.fixture(scope="module")
def real() -> Events:
    needs_data()
    events: Events = json.loads((RANK / "ASCEND_PROFILER_OUTPUT" / TRACE).read_text())
    layers = {one["pid"] for one in events if one.get("args", {}).get("name") in KEPT}
    kept = [one for one in events if one["pid"] in layers and one["ph"] in "MXC"]
    heads = [one for one in kept if one["ph"] == "M"]
    return [*heads, *[one for one in kept if one["ph"] != "M"][:400]]


KEPT = ("CANN", "Ascend Hardware", "HBM", "Overlap Analysis", "AI Core Freq")


def first(events: Events, phase: str, key: str = "name") -> dict[str, Any]:
    return next(one for one in events if one["ph"] == phase and key in one)


def hardware(events: Events) -> dict[str, Any]:
    return next(one for one in events if "Task Id" in one.get("args", {}))


def put(phase: str, key: str, value: object) -> Callable[[Events], dict[str, Any]]:
    def change(events: Events) -> dict[str, Any]:
        event = first(events, phase)
        event[key] = value
        return event

    return change


def dropped(phase: str, key: str) -> Callable[[Events], dict[str, Any]]:
    def change(events: Events) -> dict[str, Any]:
        event = first(events, phase)
        del event[key]
        return event

    return change


def arg(key: str, value: object) -> Callable[[Events], dict[str, Any]]:
    def change(events: Events) -> dict[str, Any]:
        event = hardware(events)
        event["args"][key] = value
        return event

    return change


def lost_arg(events: Events) -> dict[str, Any]:
    event = hardware(events)
    del event["args"]["Task Id"]
    return event


def named_twice(events: Events) -> dict[str, Any]:
    event = dict(first(events, "M"), args={"name": "Another"})
    assert first(events, "M")["name"] == "process_name"
    events.append(event)
    return first(events, "M")


def of_no_process(events: Events) -> dict[str, Any]:
    event = first(events, "X")
    event["pid"] = 77
    return event


def of_strange_layer(events: Events) -> dict[str, Any]:
    event = first(events, "X")
    event["pid"] = 78
    head = {"ph": "M", "name": "process_name", "pid": 78, "tid": 0, "args": {"name": "Mine"}}
    events.insert(0, head)
    return head


def moved_layer(events: Events) -> dict[str, Any]:
    pid = hardware(events)["pid"]
    for event in events:
        if event["pid"] == pid:
            event["pid"] = pid + 480
    return next(one for one in events if one["pid"] == pid + 480)


FAULTS: dict[str, tuple[str, Callable[[Events], dict[str, Any]], str]] = {
    "text-pid": ("TRC002", put("X", "pid", "3"), "pid"),
    "list-as-args": ("TRC002", put("C", "args", []), "args"),
    "infinite-duration": ("TRC002", put("X", "dur", "inf"), "dur"),
    "strange-key": ("TRC003", put("X", "color", "red"), "color"),
    "no-duration": ("TRC004", dropped("X", "dur"), ""),
    "no-time": ("TRC004", dropped("C", "ts"), ""),
    "strange-phase": ("TRC005", put("X", "ph", "B"), "ph"),
    "time-in-words": ("TRC006", put("X", "ts", "noon"), "ts"),
    "time-out-of-range": ("TRC006", put("X", "ts", "9" * 30 + ".000"), "ts"),
    "two-decimals": ("TRC007", put("X", "ts", "1736408883704643.21"), "ts"),
    "no-process": ("TRC010", of_no_process, ""),
    "named-twice": ("TRC011", named_twice, ""),
    "strange-layer": ("TRC012", of_strange_layer, ""),
    "strange-name": ("TRC013", put("C", "name", "HBM x/Read"), ""),
    "strange-arg": ("TRC013", arg("More", 1), ""),
    "lost-arg": ("TRC013", lost_arg, ""),
    "other-pid": ("TRC014", moved_layer, ""),
    "arg-out-of-range": ("TRC015", arg("Task Id", -5), "args/Task Id"),
    "arg-of-another-type": ("TRC015", arg("Task Id", "seven"), "args/Task Id"),
}


@pytest.mark.parametrize("name", some(FAULTS, every=4))
def test_one_fault_gives_one_finding(name: str, real: Events, tmp_path: Path) -> None:
    rule, change, inside = FAULTS[name]
    events = json.loads(json.dumps(real))
    event = change(events)
    content = spelled(events)
    path = tmp_path / TRACE
    path.write_bytes(content)
    found = [one for one in judged(path, STRUCTURE)[0].findings if one.offset != QUIRK(events)]
    (finding,) = found
    assert finding.rule == rule
    assert finding.table == TRACE
    place = content.index(json.dumps(event).encode())
    if inside:
        at = json.dumps(event)
        for key in inside.split("/"):
            place += at.index(f'"{key}": ') + len(key) + 4
            at = at[at.index(f'"{key}": ') + len(key) + 4 :]
    assert (finding.line, finding.offset) == (1, place)


def QUIRK(events: Events) -> int:  # noqa: N802 - reads as a constant above
    """Where the real trace has a time without decimals of its own."""
    content = spelled(events)
    bare = [
        one["ts"] for one in events if "." not in str(one.get("ts", ".")) and one["ts"].isdigit()
    ]
    return content.index(json.dumps(bare[0]).encode()) if bare else -1


DAMAGES: dict[str, tuple[str, str]] = {
    "unescaped-quote": ('"name": "a"b"', "a quote in it is not escaped"),
    "control-character": ('"name": "a\nb"', "control character 0x0a"),
    "not-a-number": ('"dur": NaN', "NaN is no JSON"),
    "missing-comma": ('"name": "a" "ph": "X"', "a comma is missing"),
    "bad-utf8": ('"name": "\udcff"', "byte 0xff is not UTF-8"),
    "bad-escape": ('"name": "\\q"', "begins no escape"),
}
BADLY = {
    "unescaped-quote": 'b"',
    "control-character": "\nb",
    "not-a-number": "NaN",
    "missing-comma": '"ph"',
    "bad-utf8": "\udcff",
    "bad-escape": 'q"',
}


@pytest.mark.parametrize("kind", some(DAMAGES, every=3))
def test_damage_is_located_and_what_stands_before_is_judged(
    kind: str, real: Events, tmp_path: Path
) -> None:
    text, reason = DAMAGES[kind]
    events = json.loads(json.dumps(real[:120]))
    bad = first(events, "X")
    bad["ph"] = "B"
    before = "[" + "".join(json.dumps(one) + ",\n" for one in events) + "{"
    content = (before + text + ', "pid": 1, "tid": 1}, {}]').encode("utf-8", "surrogateescape")
    path = tmp_path / TRACE
    path.write_bytes(content)
    (report,) = judged(path, STRUCTURE)
    found = {one.rule: one for one in report.findings}
    assert found.keys() >= {"TRC001", "TRC005"}
    damage = found["TRC001"]
    place = (before + text[: text.index(BADLY[kind])]).encode("utf-8", "surrogateescape")
    assert (damage.line, damage.offset) == (121, len(place))
    assert reason in damage.message
    assert "in event 120" in damage.message
    assert found["TRC005"].offset == content.index(json.dumps(bad).encode()) + json.dumps(
        bad
    ).index('"B"')
    (skip,) = report.skipped
    assert skip.rule == "TRC001"
    assert "events from 120 on cannot be read" in skip.reason


@pytest.mark.exhaustive
def test_truncated_at_every_byte_is_one_finding(tmp_path: Path) -> None:
    events = [
        {"name": "process_name", "ph": "M", "pid": 1, "tid": 0, "args": {"name": "Mine"}},
        {"name": "x", "ph": "X", "pid": 1, "tid": 1, "ts": "1.500", "dur": 2, "args": {"a": "\\"}},
    ]
    content = json.dumps(events).encode()
    path = tmp_path / TRACE
    for cut in range(1, len(content), 9):
        path.write_bytes(content[:cut])
        (report,) = judged(path, STRUCTURE)
        (damage,) = [one for one in report.findings if one.rule == "TRC001"]
        assert (damage.offset, damage.line) == (cut, 1)
        assert "its tail is missing" in damage.message


def test_object_form_and_byte_order_mark(real: Events, tmp_path: Path) -> None:
    path = tmp_path / "whatever.txt"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps({"x": [1], "traceEvents": real}).encode())
    (report,) = judged(path, STRUCTURE)
    assert {one.rule for one in report.findings} - {"TRC007"} == {"CSV008"}
    assert report.seen is not None
    assert "an object" in report.seen.files["whatever.txt"]


def report_of(tmp_path: Path, name: str, content: bytes) -> FileReport:
    path = tmp_path / name
    path.write_bytes(content)
    (report,) = judged(path, STRUCTURE)
    return report


@pytest.mark.parametrize("name", ["msprof_0_2_1.json", "step_trace_0_2_1.json"])
def test_legacy_files_are_judged_by_their_writer(name: str, tmp_path: Path) -> None:
    path = DATA / "mindspore_legacy" / name
    if not path.is_file():
        pytest.skip(f"needs the real files of {DATA}")
    content = path.read_bytes()
    assert report_of(tmp_path, name, content).findings == ()
    events = json.loads(content)
    [one for one in events if one["ph"] == "X"][3]["ts"] = "noon"
    (finding,) = report_of(tmp_path, name, spelled(events)).findings
    assert (finding.rule, finding.offset) == ("TRC006", spelled(events).index(b'"noon"'))


def test_real_documents_that_were_changed(tmp_path: Path) -> None:
    needs_data()
    source = RANK / "ASCEND_PROFILER_OUTPUT" / "communication.json"
    text = source.read_text()
    path = tmp_path / "communication.json"
    changes = {
        '"Wait Time Ratio": 0.9594': ('"Wait Time Ratio": 1.5', "DOC002", "at most 1"),
        '"Idle Time(ms)": 73.20370259375, ': ("", "DOC002", "the key Idle Time(ms)"),
        '"p2p": {}, ': ('"p2p": {}, "more": 1, ', "DOC003", "only keys"),
        '"RDMA": {': ('"RDMA": [', "DOC001", "JSON"),
    }
    for old, (new, rule, expected) in changes.items():
        path.write_text(text.replace(old, new, 1))
        (finding,) = structural(path)
        assert (finding.rule, finding.line) == (rule, 1)
        assert expected in finding.expected
        assert finding.offset is not None
        if rule != "DOC001":
            assert finding.pointer is not None
            assert finding.pointer.startswith("/step50")


@pytest.mark.parametrize("before", ["99", '{}, "Transit Time(ms)": 1'])
def test_a_doubled_key_of_a_document_is_noticed(tmp_path: Path, before: str) -> None:
    """Two files with such a key conformed."""
    needs_data()
    text = (RANK / "ASCEND_PROFILER_OUTPUT" / "communication.json").read_text()
    path = tmp_path / "communication.json"
    key = '"Transit Time(ms)"'
    path.write_text(text.replace(key, f"{key}: {before}, {key}", 1))
    (finding,) = structural(path)
    assert (finding.rule, finding.verdict, finding.count) == ("DOC004", "advice", 1)
    assert finding.pointer is not None
    assert finding.pointer.endswith("/Transit Time(ms)")
    assert finding.offset == text.index(key) + len(key) + 2


def test_one_key_in_two_objects_is_no_doubled_key(tmp_path: Path) -> None:
    needs_data()
    path = tmp_path / "communication.json"
    path.write_text((RANK / "ASCEND_PROFILER_OUTPUT" / "communication.json").read_text())
    assert path.read_text().count('"Transit Time(ms)"') > 2
    assert structural(path) == []


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ('{"name": "CANN", "name": "Python"}', ["name, name"]),
        ('{"name": "CANN", "names": "Python"}', []),
        ('{"name": "CANN"}', []),
    ],
)
def test_a_doubled_argument_is_noticed(tmp_path: Path, args: str, found: list[str]) -> None:
    event = '{{"ph": "M", "name": "process_name", "pid": {}, "tid": 0, "args": {}}}'
    content = f"[{event.format(1, '{}')},{event.format(2, args)}]".encode()
    path = tmp_path / TRACE
    path.write_bytes(content)
    (report,) = judged(path)
    doubled = [one for one in report.findings if one.rule == "TRC203"]
    assert [one.examples[0]["keys"] for one in doubled] == found
    assert [one.offset for one in doubled] == [content.index(b"}},") + 3] * len(found)


@pytest.mark.parametrize(
    ("event", "column", "found"),
    some(
        [
            ('{"name": "a", "ph": "X", "name": "b"}', "name", '"a"'),
            ('{"ph": "X", "args": {"x": 1}, "args": {}}', "args", '{"x": 1}'),
            ('{"ph": "X", "args": {"x": {"y": 1, "y": 2}}}', "args/x/y", "1"),
            ('{"ph" : "X", "\\u0070id": 7, "pid" : 8}', "pid", "7"),
            ('{"ph": "X", "name": "say \\": or \\"name\\": twice"}', None, ""),
            ('{"ph": "X", "args": {"name": 1, "ph": 2, "x": {"ph": 3}}}', None, ""),
            ('{"ph": "X", "args": {"x": 1, "x": 2}}', None, ""),  # TRC203
        ],
        every=3,
    ),
)
def test_a_doubled_key_of_an_event_is_noticed(
    tmp_path: Path, event: str, column: str | None, found: str
) -> None:
    content = f'[{{"name": "a", "ph": "M"}},\n{event}]'.encode()
    path = tmp_path / TRACE
    path.write_bytes(content)
    (report,) = judged(path)
    doubled = [one for one in report.findings if one.rule == "TRC008"]
    assert [one.column for one in doubled] == ([] if column is None else [column])
    for one in doubled:
        assert (one.count, one.line) == (1, 2)
        assert content[one.offset :].startswith(found.encode())
