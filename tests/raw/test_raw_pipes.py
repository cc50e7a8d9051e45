"""Groups of cores, from bytes by hand, to the samples that msprof shows of them.

The bytes are packed as upstream-msprof reads them: FLOW_FMT and CYCLES_FMT of StructFmt, a quarter
of each in turn in a record of a cube core (BiuCoreParser).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from raw_trees import write_tree

from ascend_ref.capture import RECORDS, Capture
from ascend_ref.cli import main
from ascend_ref.raw.decode.read import RawCapture, read_raw
from ascend_ref.raw.encode.write import write_raw
from ascend_ref.raw.view import raw_view
from ascend_simulator.run import simulate
from ascend_simulator.scenario import RUN

PERIOD = 1_000
PIPES = ("vector", "scalar", "cube", "mte1", "mte2", "mte3")


def flow(read_wait: int, write_wait: int, read: int, written: int) -> bytes:
    """HHTTTTTTQH, where T has three bytes."""
    numbers = (read_wait, write_wait, read, written, 0xABCDEF, 0x123456)
    traffic = b"".join(one.to_bytes(3, "little") for one in numbers)
    return struct.pack("<HH", 7, 8) + traffic + struct.pack("<QH", (1 << 64) - 2, 0xFFFF)


def cycles(*counters: int) -> bytes:
    """Twenty numbers of 12 bits, of which the first six are counters of pipes, and one of 16."""
    numbers = [*counters, *range(0xF00, 0xF0E)]
    whole = sum(one << 12 * place for place, one in enumerate(numbers))
    return whole.to_bytes(30, "little") + b"\xee\xee"


def cube(traffic: bytes, counters: bytes) -> bytes:
    quarters = ((traffic[at : at + 8], counters[at : at + 8]) for at in range(0, 32, 8))
    return bytes(32) + b"".join(part for pair in quarters for part in pair)


def vector(counters: bytes) -> bytes:
    return b"\xdd" * 32 + counters


def tree(
    folder: Path, files: Mapping[str, bytes], sample: Mapping[str, object] | None = None
) -> Path:
    named = {f"instr.group_{name}.0.slice_0": content for name, content in files.items()}
    made = write_tree(folder / "PROF_1", {}, named)
    path = made / "device_0" / "sample.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | dict(sample or {"instrProfilingFreq": PERIOD})))
    return made


def rows(found: RawCapture, record: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    table = found.capture.records.get(record, {})
    texts = found.capture.texts.all
    shown = [
        [texts[one] for one in table[name].tolist()]
        if name in RECORDS[record].texts
        else table[name].tolist()
        for name in columns
        if table
    ]
    return list(zip(*shown, strict=True))


def read(made: Path) -> RawCapture:
    (found,) = read_raw(made)
    return found


def test_traffic_and_cycles_of_a_group(tmp_path: Path) -> None:
    """Traffic is of a period; cycles go on and wrap at 12 bits, and a cube core has no vector."""
    content = cube(flow(1, 2, 3, 4), cycles(9, 10, 20, 30, 40, 50))
    content += cube(flow((1 << 24) - 1, 0xABCDEF, 0xFEDCBA, 5), cycles(9, 4, 4_095, 30, 41, 0xFF0))
    found = read(tree(tmp_path, {"3_aic": content}))
    assert found.damage == []
    traffic = ("device", "group", "read_latency", "write_latency")
    assert rows(found, "biu_flow", (*traffic, "read_bandwidth", "write_bandwidth")) == [
        (0, 3, 1, 2, 3, 4),
        (0, 3, (1 << 24) - 1, 0xABCDEF, 0xFEDCBA, 5),
    ]
    assert rows(found, "biu_cycles", ("group", "core", "type", "period", *PIPES)) == [
        (3, 3, "aic", PERIOD, 0, 10, 20, 30, 40, 50),
        (3, 3, "aic", PERIOD, 0, 4_090, 4_075, 0, 1, 0xFF0 - 50),
    ]
    assert found.capture.switches.instr == PERIOD


def test_cores_stand_in_order_of_groups(tmp_path: Path) -> None:
    one = vector(cycles(1, 2, 3, 4, 5, 6))
    files = {"10_aiv0": one, "2_aiv1": one, "2_aiv0": one + one}
    found = read(tree(tmp_path, files))
    assert found.damage == []
    assert rows(found, "biu_cycles", ("group", "core", "type", *PIPES)) == [
        (2, 29, "aiv", 1, 2, 0, 4, 5, 6),
        (2, 29, "aiv", 0, 0, 0, 0, 0, 0),
        (2, 30, "aiv", 1, 2, 0, 4, 5, 6),
        (10, 45, "aiv", 1, 2, 0, 4, 5, 6),
    ]
    assert "biu_flow" not in found.capture.records


@pytest.mark.parametrize(
    ("sample", "period"),
    [
        ({"instr_profiling_freq": 300}, 300),
        ({"instr_profiling_freq": 300, "instrProfilingFreq": 500}, 500),
    ],
)
def test_periods_as_either_key_states_them(
    tmp_path: Path, sample: Mapping[str, object], period: int
) -> None:
    found = read(tree(tmp_path, {"0_aiv0": vector(cycles(1, 2, 3, 4, 5, 6))}, sample))
    assert found.damage == []
    assert found.capture.records["biu_cycles"]["period"].tolist() == [period]


@pytest.mark.parametrize("period", [None, 0, -5, "", "a", "1e9", "9" * 5_000, 1 << 60])
def test_samples_without_a_period_are_stated(tmp_path: Path, period: object) -> None:
    sample = {} if period is None else {"instrProfilingFreq": period}
    content = vector(cycles(1, 2, 3, 4, 5, 6))
    found = read(tree(tmp_path, {"0_aiv0": content}, {"other": "", **sample}))
    assert found.capture.records == {}
    assert any("instrProfilingFreq" in one.message for one in found.damage)


def test_a_record_that_breaks_off_is_damage_with_its_place(tmp_path: Path) -> None:
    one = vector(cycles(1, 2, 3, 4, 5, 6))
    made = tree(tmp_path, {"0_aiv0": one[:10] + one}, {"instrProfilingFreq": PERIOD})
    found = read(made)
    assert len(found.capture.records["biu_cycles"]["core"]) == 1
    assert [one.file.name for one in found.damage] == ["instr.group_0_aiv0.0.slice_0"]


def test_decode_shows_the_parts_of_the_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = cube(flow(1, 2, 3, 4), cycles(9, 10, 20, 30, 40, 0xFFF))
    made = tree(tmp_path, {"0_aic": content})
    assert main(["decode", str(made / "device_0" / "data" / "instr.group_0_aic.0.slice_0")]) == 0
    shown = json.loads(capsys.readouterr().out)["records"][0]
    assert (shown["stat_rlat_raw"], shown["stat_flux_rd"], shown["stat_flux_wr"]) == (1, 3, 4)
    assert (shown["scalar_cycles"], shown["lsu3_cycles_low"], shown["lsu3_cycles_high"]) == (
        10,
        0xF,
        0xFF,
    )


def sampled(period: int) -> Capture:
    own = RUN.preset("single-op")
    return simulate(replace(own, capture=replace(own.capture, instr=period))).capture(0)


def test_cycles_of_short_periods_come_back_whole(tmp_path: Path) -> None:
    capture = sampled(PERIOD)
    held = raw_view(capture)
    assert [one for one in held.lost if "multiples" in one] == []
    assert "the times of biu_cycles" in held.lost
    write_raw(tmp_path / "PROF_1", held.capture)
    found = read(tmp_path)
    assert found.damage == []
    for record in ("biu_flow", "biu_cycles"):
        own, recorded = found.capture.records[record], capture.records[record]
        for name in set(own) - {"time", "length", "type"}:
            assert np.array_equal(own[name], recorded[name]), name
        assert own["time"].tolist() == [-1] * len(recorded["time"])


def test_of_long_periods_the_rest_of_each_counter_is_held() -> None:
    capture = sampled(30_000)
    held = raw_view(capture)
    recorded = capture.records["biu_cycles"]
    assert "multiples of 4,096 in biu_cycles" in held.lost
    for pipe in PIPES:
        own = held.capture.records["biu_cycles"][pipe]
        assert np.array_equal(own, recorded[pipe] % 4_096)


def test_a_cube_core_without_its_traffic_has_no_file(tmp_path: Path) -> None:
    capture = sampled(PERIOD)
    records = {name: one for name, one in capture.records.items() if name != "biu_flow"}
    held = raw_view(replace(capture, records=records)).capture
    types = {held.texts.all[one] for one in held.records["biu_cycles"]["type"].tolist()}
    assert types == {"aiv"}
    write_raw(tmp_path / "PROF_1", held)
    assert not list(tmp_path.rglob("instr.*aic*"))


def test_periods_of_two_lengths_have_no_file() -> None:
    """sample.json states one length for all of them."""
    capture = sampled(PERIOD)
    cycles = capture.records["biu_cycles"]
    periods = np.append(cycles["period"][:-1], 2 * PERIOD)
    records = {**capture.records, "biu_cycles": {**cycles, "period": periods}}
    held = raw_view(replace(capture, records=records))
    assert not {"biu_cycles", "biu_flow"} & held.capture.records.keys()
    assert "records of biu_cycles, biu_flow" in held.lost
