"""The graph engine's texts about the host: grammar, both ways, overflow, what is judged of them."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from ge_evidence import section
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_conformance.media.raw.facts import open_facts
from ascend_conformance.media.raw.gather import read_folder
from ascend_conformance.media.raw.judge import judge_raw
from ascend_conformance.media.raw.selftest import run_specimen
from ascend_ref.cli import main
from ascend_ref.ge.dump import (
    DumpRecord,
    Scope,
    TextDump,
    dump_lines,
    dump_of_scopes,
    read_dumps,
    show_dumps,
)
from ascend_simulator.ge.host_text import host_text, write_host_text
from ascend_simulator.run import simulate
from ascend_simulator.scenario import override, preset
from ascend_spec import ge_catalog
from ascend_spec.ge.reports import DumpName

PLAIN = """ExecutorProfiler version: 2.0-SingleThread, dump start, records num: 6
1700000000000000000 42 [Model] [Execute] Start
1700000000000000200 42 [add] [RT1_Tiling] Start
1700000000000000300 42 [add] [RT1_Tiling] End
1700000000000000100 42 [add] [StaticSingleOpExecute] Start
1700000000000000400 42 [add] [StaticSingleOpExecute] End
1700000000000000500 42 [Model] [Execute] End
Profiling dump end
"""
names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=30)


def text_of(dump: TextDump) -> str:
    return "".join(dump_lines(dump))


def test_g127_forms_are_those_of_the_evidence() -> None:
    text = " ".join(section("5.10").split())
    executor, profiler = ge_catalog().dumps["GlobalProfiler"], ge_catalog().dumps["Profiler"]
    shown = {"version": executor.version, "count": "<n>", "capacity": "<cap>"}
    assert f"`{executor.head.format(**shown)}`" in text
    assert f"`{executor.overflow.format(**shown)}`" in text
    assert f"`{profiler.head.format(**{**shown, 'version': profiler.version})}`" in text
    assert f"last line `{executor.end}`" in text
    assert "capacity 10*1024*1024 records" in text
    assert executor.capacity == profiler.capacity == 10 * 1024 * 1024
    assert (profiler.strings, profiler.longest) == (1024 * 1024, 255)
    assert "`<ns since epoch> <tid> [<name>] [<type>] <Start|End|UNKNOWN(k)>`" in text


def test_g129_a_text_is_read_and_written_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "ge_profiling_7.txt"
    path.write_text(PLAIN * 2, encoding="utf-8")
    found, bad = read_dumps(path)
    assert bad == []
    assert [(one.count, len(one.records), one.is_ended) for one in found] == [(6, 6, True)] * 2
    assert [one.state for one in found[0].records] == [2, 0, 1, 0, 1, 3]
    assert "".join(map(text_of, found)) == PLAIN * 2


@settings(max_examples=40)
@given(
    st.sampled_from(["GlobalProfiler", "Profiler"]),
    st.lists(
        st.builds(
            DumpRecord,
            st.integers(0, 2**63 - 1),
            st.integers(-1, 2**31),
            names,
            names,
            st.sampled_from([0, 1]),
        ),
        max_size=8,
    ),
)
def test_g123_g128_drawn_records_come_back(dump: DumpName, records: list[DumpRecord]) -> None:
    import tempfile

    spec = ge_catalog().dumps[dump]
    made = TextDump(spec.dump, spec.version, len(records), records)
    text = text_of(made)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "text"
        path.write_bytes(text.encode())
        found, bad = read_dumps(path)
    assert bad == []
    assert "".join(map(text_of, found)) == text
    assert bool(found) is (bool(records) or spec.empty)


def test_g125_g128_scopes_that_are_left_first_come_first() -> None:
    scopes = [
        Scope(1, "net", "ModelExecute", 10, 90),
        Scope(1, "add", "Tiling", 20, 30),
        Scope(1, "add", "OpExecute", 15, 40),
    ]
    found = dump_of_scopes("Profiler", scopes)
    assert [(one.event, one.state, one.time) for one in found.records] == [
        ("Tiling", 0, 20),
        ("Tiling", 1, 30),
        ("OpExecute", 0, 15),
        ("OpExecute", 1, 40),
        ("ModelExecute", 0, 10),
        ("ModelExecute", 1, 90),
    ]


def test_g126_the_first_records_stay_and_the_others_are_counted(tmp_path: Path) -> None:
    """No ring: erratum G12."""
    scopes = [Scope(1, f"op{number}", "Tiling", number, number + 1) for number in range(5)]
    found = dump_of_scopes("GlobalProfiler", scopes, capacity=3)
    assert (found.count, found.dropped_after) == (10, 3)
    assert [one.element for one in found.records] == ["op0", "op0", "op1"]
    lines = text_of(found).splitlines()
    assert lines[0].endswith("records num: 10")
    assert lines[1] == "Too many records(10), the records after 3 will be dropped"
    assert len(lines) == 6
    assert "G12" in ge_catalog().errata


def test_words_of_the_states() -> None:
    executor = TextDump("GlobalProfiler", "2.0-SingleThread", 1, [DumpRecord(1, 2, "a", "b", 9)])
    assert "1 2 [a] [b] UNKNOWN(9)\n" in text_of(executor)
    moment = TextDump("Profiler", "1.0", 1, [DumpRecord(1, 2, "a", "b", 2)])
    assert "1 2 [a] [b] \n" in text_of(moment)
    assert text_of(TextDump("Profiler", "1.0", 0)) == ""
    assert text_of(TextDump("GlobalProfiler", "2.0-SingleThread", 0)).count("\n") == 2
    with pytest.raises(ValueError, match="no record of the kind 9"):
        text_of(TextDump("Profiler", "1.0", 1, [DumpRecord(1, 2, "a", "b", 9)]))


def test_decode_recognises_the_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "any name"
    path.write_text(PLAIN.replace("Profiling dump end", "junk"), encoding="utf-8")
    assert main(["decode", str(path), "--rows", "2"]) == 1
    out, err = capsys.readouterr()
    (text,) = json.loads(out)["texts"]
    assert (text["number"], len(text["records"]), text["ended"]) == (6, 2, False)
    assert text["records"][0]["event_names"] == ["kExecute"]
    assert err.startswith(f"{path}: line 8: 'junk' is not")


def test_a_text_of_two_events_names_both(tmp_path: Path) -> None:
    """Erratum G29."""
    path = tmp_path / "ge_profiling_7.txt"
    path.write_text(PLAIN.replace("RT1_Tiling", "RT1_Atomic"), encoding="utf-8")
    target = io.StringIO()
    show_dumps(path, None, target)
    (text,) = json.loads(target.getvalue())["texts"]
    assert text["records"][1]["event_names"] == ["kAtomic", "kOpExecute"]


def test_g127_a_simulated_text_conforms(tmp_path: Path) -> None:
    capture = simulate(override(preset("single-op"), steps=1), 1).capture(0)
    path = write_host_text(capture, tmp_path, 4242)
    assert path.name == "ge_profiling_4242.txt"
    assert judge_raw(path).findings == ()
    (found,), bad = read_dumps(path)
    assert bad == []
    assert "".join(dump_lines(found)) == path.read_text("utf-8")
    short = host_text(capture, capacity=2)
    assert (len(short.records), short.dropped_after) == (2, 2)


@pytest.mark.exhaustive
def test_g127_each_rule_of_texts_meets_its_own_break() -> None:
    trials = run_specimen("dumps")
    assert trials.unclean == []
    assert trials.missed == []
    assert trials.false_alarms == []
    assert len(trials.mutations) == 7


def test_check_judges_a_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ge_profiling_7.txt"
    path.write_text(PLAIN.replace("num: 6", "num: 7"), encoding="utf-8")
    assert main(["check", str(tmp_path)]) == 1
    assert "RAW801" in capsys.readouterr().out


def mutated(text: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(text))
    kind = rng.randrange(5)
    if kind == 0:
        return text[:place]
    if kind == 1:
        return text[:place] + bytes(rng.randrange(256) for _ in range(3)) + text[place:]
    if kind == 2:
        return text.replace(b"42", str(2 ** rng.choice([31, 63, 64, 200])).encode())
    if kind == 3:
        return text[:place] + text[rng.randrange(len(text)) :]
    return text[:place] + b"x" * 70_000 + text[place:]


@pytest.mark.parametrize("seed", range(24))
def test_g127_mutated_texts_are_findings(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "ge_profiling_7.txt"
    path.write_bytes(mutated(PLAIN.encode(), random.Random(seed)))
    report = judge_raw(path)
    assert [one for one in report.findings if one.verdict == "failure"] == []


def facts_of(path: Path) -> list[tuple[Any, ...]]:
    with open_facts() as facts:
        read_folder(facts, path, "text")
        return facts.rows("SELECT line, start, open, end_before FROM dump_record ORDER BY line")


def pairs_by_stacks(text: str) -> list[tuple[Any, ...]]:
    """What belongs together, found with a stack for each thread, element and event."""
    found: list[list[Any]] = []
    stacks: dict[str, list[list[Any]]] = {}
    ends: dict[str, int] = {}
    for line, words in enumerate(text.splitlines(), 1):
        if " version: " in words:
            stacks, ends, dropped = {}, {}, False
        elif words.startswith("Too many"):
            dropped = True
        if not words[0].isdigit():
            if words == "Profiling dump end" and dropped:
                for row in [row for stack in stacks.values() for row in stack]:
                    row[2] = 0
            continue
        time, thread, name, event, word = words.split(" ")
        key, row = f"{thread} {name} {event}", [line, None, 0, None]
        found.append(row)
        if word == "Start":
            row[2] = 1
            row.append(int(time))
            stacks.setdefault(key, []).append(row)
        elif word == "End":
            # The end of a model is no end of a scope.
            if name != "[Model]":
                row[3], ends[thread] = ends.get(thread), int(time)
            if stacks.get(key):
                begun = stacks[key].pop()
                begun[2], row[1] = 0, begun[4]
            else:
                row[2] = 1
    return [tuple(one[:4]) for one in found]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(
            st.tuples(
                st.integers(0, 50),
                st.sampled_from([1, 2]),
                st.sampled_from(["[a] [b]", "[a] [c]", "[Model] [Execute]"]),
                st.sampled_from(["Start", "End", "UNKNOWN(2)", "UNKNOWN(9)"]),
            ).filter(lambda one: "Execute" not in one[2] or one[3] != "UNKNOWN(2)"),
            max_size=14,
        ),
        min_size=1,
        max_size=3,
    ),
    st.booleans(),
)
def test_g128_starts_and_ends_are_paired_as_stacks_pair_them(
    texts: list[list[tuple[int, int, str, str]]], dropped: bool
) -> None:
    import tempfile

    lines = []
    for records in texts:
        lines.append(
            f"ExecutorProfiler version: 2.0-SingleThread, dump start, records num: {len(records)}"
        )
        if dropped:
            lines.append("Too many records(99), the records after 98 will be dropped")
        lines += [" ".join(map(str, one)) for one in records]
        lines.append("Profiling dump end")
    text = "".join(f"{one}\n" for one in lines)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "ge_profiling_7.txt"
        path.write_text(text, encoding="utf-8")
        assert facts_of(path) == pairs_by_stacks(text)
        found, bad = read_dumps(path)
    assert bad == []
    kept = [one for one in text.splitlines() if not one.startswith("Too many")]
    assert "".join(map(text_of, found)).splitlines() == kept or dropped


def test_lines_of_no_form_are_counted_and_great_numbers_are_held(tmp_path: Path) -> None:
    path = tmp_path / "ge_profiling_7.txt"
    great = PLAIN.replace(" 42 [add] [RT1", f" -{10**19} [add] [RT1")
    path.write_text(great.replace("Profiling dump", "a line\nProfiling dump"), encoding="utf-8")
    with open_facts() as facts:
        read_folder(facts, path, "text")
        assert facts.rows("SELECT records, bad, is_ended FROM dump") == [(6, 1, 1)]
        threads = facts.rows("SELECT DISTINCT thread FROM dump_record ORDER BY thread")
        assert threads == [(-(2**63 - 1),), (42,)]
