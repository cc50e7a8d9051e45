"""Voltages, clocks and links between chips, from bytes by hand (raw-prof 4.7 and 4.9)."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from raw_trees import device_ticks, write_tree
from test_raw_amounts import read

from ascend_ref.capture import Capture
from ascend_ref.raw.decode.read import read_raw
from ascend_ref.raw.encode.write import write_raw
from ascend_ref.raw.view import raw_view
from ascend_simulator.run import simulate
from ascend_simulator.scenario import RUN, override


def lpm(kind: int, *samples: tuple[int, int]) -> bytes:
    """888 bytes: how many, the type, and 55 places of counter and value."""
    parts = b"".join(struct.pack("<QII", device_ticks(at), value, 0) for at, value in samples)
    return struct.pack("<II", len(samples), kind) + parts.ljust(880, b"\0")


def voltages(capture: Capture) -> list[tuple[str, int]]:
    table, texts = capture.records["voltage"], capture.texts.all
    return [
        (texts[supply], value)
        for supply, value in zip(table["supply"], table["millivolts"], strict=True)
    ]


def test_voltages_begin_with_what_exporters_state(tmp_path: Path) -> None:
    content = lpm(1, (11_000, 850), (12_000, 700)) + lpm(2, (11_000, 801)) + lpm(1, (12_500, 850))
    found = read(tmp_path, "lpmInfoConv", content)
    assert found.damage == []
    assert voltages(found.capture) == [
        *(("Aicore Voltage", value) for value in (900, 850, 700, 850)),
        *(("Bus Voltage", value) for value in (900, 801)),
    ]
    times = found.capture.records["voltage"]["time"]
    assert np.diff(times[1:4]).tolist() == [1_000_000, 500_000]
    (context,) = (one for one in found.contexts if one.folder.device is not None)
    assert times[0] == times[4] == context.side.device.ns > found.capture.origin.start
    assert found.capture.origin.end is None  # else the last one would stand there again


def test_what_was_read_before_the_counter_was_holds_then(tmp_path: Path) -> None:
    """The counter is read 6,000.1 us after the start (upstream-msprof LpmInfoConvParser)."""
    found = read(tmp_path, "lpmInfoConv", lpm(1, (5_000, 840), (5_900, 845), (6_200, 850)))
    table = found.capture.records["voltage"]
    assert voltages(found.capture) == [("Aicore Voltage", value) for value in (845, 850)]
    assert np.diff(table["time"]).tolist() == [199_900]


def test_clocks_may_stand_with_the_voltages(tmp_path: Path) -> None:
    """Collectors of A2 and A3 write one file for all (erratum U29)."""
    found = read(tmp_path, "lpmInfoConv", lpm(0, (11_000, 1_200)))
    assert found.capture.samples["AICORE_FREQ"]["freq"].tolist()[1:] == [1_200]
    assert "voltage" not in found.capture.records
    files = {
        f"{name}.data.0.slice_0": lpm(0, (11_000, value))
        for name, value in (("lpmFreqConv", 1_300), ("lpmInfoConv", 1_200))
    }
    (both,) = read_raw(write_tree(tmp_path / "PROF_2", {}, files))
    assert both.capture.samples["AICORE_FREQ"]["freq"].tolist()[1:] == [1_300]


def trans(acc: int, at: int, link: int, first: int, second: int) -> bytes:
    """64 bytes of chips 5, 7, 8 and 11."""
    head = struct.pack("<HHIQHH12x", 27 | acc << 10, 0x6BD3, 0, device_ticks(at), 0, link)
    return head + struct.pack("<QQ16x", first, second)


def test_links_of_two_kinds_stand_in_one_file(tmp_path: Path) -> None:
    content = (
        trans(63, 11_000, 7, 3, 4) + trans(34, 11_000, 64 + 2, 5, 6) + trans(63, 12_000, 1, 0, 0)
    )
    found = read(tmp_path, "stars_soc_profile", content)
    assert found.damage == []
    links, pcie = (found.capture.records[name] for name in ("pa_link", "pcie_link"))
    assert [links[name].tolist() for name in ("link", "received", "sent")] == [
        [7, 1],
        [3, 0],
        [4, 0],
    ]
    assert [pcie[name].tolist() for name in ("link", "written", "read")] == [[2], [5], [6]]
    assert found.capture.switches.sys_interconnection


def test_what_a_die_failed_to_report_is_left_out(tmp_path: Path) -> None:
    def by_die(die: int, first: int, second: int) -> bytes:
        head = struct.pack("<HHIQ", 27 | die << 10, 0x6BD3, 0, device_ticks(11_000))
        return head + struct.pack("<QQ32x", first, second)

    content = by_die(1, 5, 6) + by_die(0, (1 << 64) - 1, 6) + by_die(0, 5, (1 << 64) - 1)
    found = read(tmp_path, "stars_soc_profile", content, chip=15)
    pcie = found.capture.records["pcie_link"]
    assert [pcie[name].tolist() for name in ("link", "written", "read")] == [[1], [5], [6]]


@pytest.mark.parametrize("level", [0, 1])
def test_models_without_fused_operators_have_no_name(tmp_path: Path, level: int) -> None:
    chosen = override(RUN.preset("cnn-910b"), ranks=1, steps=1, level=level)
    chosen = RUN.preset("text-museum") if not chosen.model.graph else chosen
    capture = simulate(override(chosen, ranks=1, steps=1, level=level)).capture(0)
    write_raw(tmp_path, raw_view(capture).capture)
    (file,) = tmp_path.rglob("*.additional.graph_id_map.slice_0")
    (one,) = [file.read_bytes()[at : at + 256] for at in range(0, file.stat().st_size, 256)]
    name, graph, model = struct.unpack_from("<QII", one, 24)
    assert graph == model
    assert (name == 0) == (level == 0)


def test_a_950_records_the_changes_of_its_clock_as_well(tmp_path: Path) -> None:
    capture = simulate(override(RUN.preset("950-dense"), steps=1)).capture(0)
    write_raw(tmp_path, raw_view(capture).capture)
    content = next(tmp_path.rglob("lpmFreqConv.data.*")).read_bytes()
    (count,) = struct.unpack_from("<I", content)
    inner = set(capture.samples["AICORE_FREQ"]["timestampNs"].tolist())
    assert count == len(inner - {capture.origin.start, capture.origin.end})


def test_memory_of_the_process_and_of_the_device_stand_in_files_of_their_own(
    tmp_path: Path,
) -> None:
    """Each has a channel of its own, and readers take both (upstream-runtime ProfAppMemJob)."""
    capture = simulate(override(RUN.preset("observed-everything"), ranks=1, steps=1)).capture(0)
    held = raw_view(capture).capture
    write_raw(tmp_path / "PROF_1", held)
    kinds = {}
    for name in ("npu_mem.app", "npu_mem.data"):
        content = b"".join(one.read_bytes() for one in tmp_path.rglob(f"{name}.0.slice_*"))
        kinds[name] = {event for _, event in struct.iter_unpack("<II24x", content)}
    assert kinds == {"npu_mem.app": {0}, "npu_mem.data": {1}}
    (found,) = read_raw(tmp_path / "PROF_1")
    assert len(found.capture.samples["NPU_MEM"]["hbm"]) == len(held.samples["NPU_MEM"]["hbm"])
