"""Traces of the pipes of single cores, from words by hand, to what msprof shows of them.

The words are packed as upstream-msprof reads them (BiuPerfChip6Parser); those of the first test are
of its own unit test, with the numbers that it expects.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from chip_15 import read_950, shown, tree_of_950, unix
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_capture import plain
from raw_trees import DC

from ascend_ref.capture import Capture
from ascend_ref.cli import main
from ascend_ref.raw.decode.read import read_raw
from ascend_ref.raw.encode.write import write_raw
from ascend_ref.raw.instructions import behind, trace_of, words_of
from ascend_ref.raw.moments import MOMENTS
from ascend_ref.raw.view import raw_view
from ascend_simulator.run import simulate
from ascend_simulator.scenario import parse

COLUMNS = ("group", "core", "instruction", "block", "time", "length", "checkpoint")
SU, VEC, CUBE, MTE2, FIXP = 1, 2, 4, 16, 64
STATE, STAMP = 15, 14


def stamp(ticks: int, block: int = 0) -> bytes:
    """Four words: 16 bits of the counter each, and in the first two the block."""
    parts = [(ticks >> 16 * at & 0xFFFF, (block & 0xFF, block >> 8, 0, 0)[at]) for at in range(4)]
    return b"".join(
        struct.pack("<HBB", low, own, STAMP << 4 | at) for at, (low, own) in enumerate(parts)
    )


def word(passed: int, events: int, kind: int = STATE) -> bytes:
    return struct.pack("<HH", passed, kind << 12 | events)


def tree(folder: Path, content: bytes, name: str = "0_aic", frequency: str = "50") -> Path:
    return tree_of_950(folder, {}, {f"instr.biu_perf_group{name}.0.slice_0": content}, frequency)


def test_the_words_of_msprofs_own_test(tmp_path: Path) -> None:
    """From 4181401573670 on: SU after 5900 cycles for 1600, MTE2 48 later for 2159."""
    content = bytes.fromhex(
        "269900e0 f48e00e1 cd0300e2 000000e3 0c1701f0 400600f0 300010f0 6f0800f0"
    )
    found = read_950(tree(tmp_path, content))
    early = unix(4_181_401_579_570)
    assert [
        (name, at, long) for _, _, name, _, at, long, _ in shown(found, "biu_perf", *COLUMNS)
    ] == [
        ("SU", early, 1_600 * 20),
        ("MTE2", unix(4_181_401_581_218), 2_159 * 20),
    ]


def test_pipes_checkpoints_and_blocks(tmp_path: Path) -> None:
    """At 50 MHz a cycle takes as long as a tick. Checkpoints come behind all pipes."""
    content = (
        stamp(DC + 100, 0x1234)
        + word(5, CUBE | FIXP)
        + word(7, 9, kind=1)
        + word(3, CUBE)
        + word(1, 0)
        + stamp(DC + 1_000, 2)
        + word(0, VEC)
        + word(65_535, VEC)
        + word(65_535, 0)
    )
    found = read_950(tree(tmp_path, content, "3_aiv1"))
    assert found.damage == []
    assert shown(found, "biu_perf", *COLUMNS) == [
        (3, "aiv1", "FIXP", 0x1234, unix(DC + 105), 200, -1),
        (3, "aiv1", "CUBE", 0x1234, unix(DC + 105), 220, -1),
        (3, "aiv1", "VEC", 2, unix(DC + 1_000), 131_070 * 20, -1),
        (3, "aiv1", "VEC", 0x1234, unix(DC + 112), 0, 9),
    ]


def test_cycles_are_those_of_the_core(tmp_path: Path) -> None:
    content = stamp(DC) + word(1_800, SU) + word(18, 0)
    (row,) = shown(read_950(tree(tmp_path, content, frequency="1800")), "biu_perf", *COLUMNS)
    assert row[4:6] == (unix(DC) + 1_000, 10)


def test_what_follows_the_end_of_a_trace_is_no_word(tmp_path: Path) -> None:
    end, filler = struct.pack("<I", 0xEFFFFFFF), struct.pack("<I", 0xDDDDDDDD)
    one = stamp(DC) + word(2, SU) + word(2, 0)
    content = one + end + filler * 5 + one.replace(stamp(DC), stamp(DC + 50)) + end
    found = read_950(tree(tmp_path, content))
    assert found.damage == []
    assert [row[4] for row in shown(found, "biu_perf", *COLUMNS)] == [unix(DC + 2), unix(DC + 52)]


def test_what_never_ends_is_not_shown(tmp_path: Path) -> None:
    found = read_950(tree(tmp_path, stamp(DC) + word(2, SU | VEC) + word(2, VEC)))
    assert [row[2] for row in shown(found, "biu_perf", *COLUMNS)] == ["SU"]


@pytest.mark.parametrize(
    ("content", "rows", "message"),
    [
        (word(3, SU) + word(4, 0), 0, "2 words of group 0 aic have no stamp"),
        (
            stamp(DC) + word(1, SU) + word(1, 0) + stamp(DC)[:8] + word(1, SU) + word(1, 0),
            1,
            "whole",
        ),
        (b"\1\2" + stamp(DC) + word(1, SU) + word(1, 0), 1, "the first 2 bytes"),
    ],
)
def test_what_is_torn_is_damage(tmp_path: Path, content: bytes, rows: int, message: str) -> None:
    found = read_950(tree(tmp_path, content))
    assert len(shown(found, "biu_perf", *COLUMNS)) == rows
    assert any(message in one.message for one in found.damage)


def test_the_layer_has_a_thread_for_each_core(tmp_path: Path) -> None:
    content = stamp(DC + 5_000, 7) + word(0, MTE2) + word(100, 0)
    made = tree_of_950(
        tmp_path,
        {},
        {f"instr.biu_perf_group{name}.0.slice_0": content for name in ("1_aiv0", "0_aiv1")},
        "50",
    )
    assert main(["export", str(made), "-o", str(tmp_path / "out"), "--as", "timeline"]) == 0
    (path,) = (tmp_path / "out").rglob("msprof_*.json")
    text = path.read_text()
    for name, tid in (("Group0-aiv1", 0), ("Group1-aiv0", 1)):
        assert f'"tid":{tid}' in text.split(f'"{name}"')[0].rsplit("{", 2)[1]
    assert text.count('"name":"MTE2"') == 2
    assert text.count('"args":{"Core Type":"aiv0","Block Id":7}') == 1


@cache
def traced(frequency: int = 1_800) -> Capture:
    scenario = parse(
        "hardware: {product: '950'}\nmodel: {kind: cnn, batch: 2, image: 32, channels: 8}"
    )
    switches = replace(scenario.capture, instr=30_000)
    hardware = replace(scenario.hardware, frequency=frequency)
    return simulate(replace(scenario, capture=switches, hardware=hardware)).capture(0)


@pytest.mark.parametrize("frequency", [1_800, 700, 100])
def test_a_simulated_trace_comes_back(tmp_path: Path, frequency: int) -> None:
    held = raw_view(traced(frequency)).capture
    write_raw(tmp_path / "PROF_1", held)
    (found,) = read_raw(tmp_path / "PROF_1")
    assert found.damage == []
    assert plain(found.capture)["biu_perf"] == plain(held)["biu_perf"]
    assert found.capture.switches.instr == 30_000
    whole, kept = traced(frequency).records["biu_perf"], held.records["biu_perf"]
    if frequency == 1_800:
        assert len(kept["time"]) == len(whole["time"])
        assert abs(kept["time"] - whole["time"]).max() <= 20


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 400_000), st.integers(1, 300_000)), max_size=12
    )
)
def test_any_times_of_a_pipe_come_back(times: list[tuple[int, int, int]]) -> None:
    """What works at any moment, by brute force on the moments themselves."""
    clock = MOMENTS.clocks(1_700_000_000_000_000_000).device
    start = 1_700_000_000_500_000_000
    columns = np.array(times, np.int64).reshape(-1, 3)
    begin = start + columns[:, 1]
    trace = trace_of(
        words_of(columns[:, 0], columns[:, 0] * 0, begin, begin + columns[:, 2], clock, 2_000)
    )
    assert (trace.lost, trace.torn) == (0, False)
    first = behind(clock.times(trace.start_ticks), trace.start_cycles, 2_000) - start
    last = behind(clock.times(trace.end_ticks), trace.end_cycles, 2_000) - start
    for pipe in range(7):
        own = [(at, at + long) for one, at, long in times if one == pipe]
        merged: list[tuple[int, int]] = []
        for at, end in sorted(own):
            if merged and at <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((at, end))
        read = sorted(
            zip(first[trace.pipe == pipe].tolist(), last[trace.pipe == pipe].tolist(), strict=True)
        )
        joined: list[tuple[int, int]] = []
        for at, end in read:  # a stamp parts what follows at once
            if joined and at == joined[-1][1]:
                joined[-1] = (joined[-1][0], end)
            else:
                joined.append((at, end))
        assert joined == merged
