"""What AI CPU, Ctrl CPU and TS CPU did, from text and bytes by hand, to what is shown.

The expected rows are those that msprof shows of the same bytes, but for what errata U26 and U27
state (upstream-msprof multi_process_cb, ParsingTSData, cpu_data_report, TsCpuReport).
"""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from raw_trees import write_tree

from ascend_ref.capture import RECORDS, Capture
from ascend_ref.cli import main
from ascend_ref.profile.raw import export_raw
from ascend_ref.raw.decode.read import RawCapture, read_raw
from ascend_ref.raw.encode.write import write_raw
from ascend_ref.raw.view import raw_view
from ascend_simulator.run import simulate
from ascend_simulator.scenario import RUN

MAGIC = 2880154539
"""ParsingTSData.HEADER_NUMBER."""
MOST = (1 << 64) - 1
PROCESSORS = {"ctrl_cpu": "0", "ai_cpu": "1,2,12"}


def sample(
    processor: int, event: str, count: int | str, *frames: str, program: str = "a b c"
) -> str:
    """A sample as perf script pads it."""
    head = f"{program:>16}  1021/1030  [{processor:03}]  176.889901:   {count:>10} {event}: \n"
    return head + "".join(f"\t{one:>17}\n" for one in frames) + "\n"


def scheduler(pc: int, *pairs: int, header: int = MAGIC) -> bytes:
    """The layout of 304 bytes in raw-prof 4.7."""
    pmu = struct.pack("<14Q", *pairs, *[0] * (14 - len(pairs)))
    return struct.pack("<II160xIIQQ", header, 0, 0, 0, pc, 77) + pmu


def tree(folder: Path, text: str = "", records: bytes = b"") -> Path:
    files = {"ai_ctrl_cpu.data.0.slice_0": text.encode(), "tscpu.data.0.slice_0": records}
    made = write_tree(folder / "PROF_1", {}, {name: one for name, one in files.items() if one})
    path = made / "device_0" / "info.json.0"
    document = json.loads(path.read_text())
    document["DeviceInfo"][0] |= PROCESSORS
    path.write_text(json.dumps(document))
    return made


def rows(made: Path, record: str) -> tuple[RawCapture, list[tuple[Any, ...]]]:
    """The rows of a record, with texts, in the order of its columns."""
    (found,) = read_raw(made)
    columns = found.capture.records.get(record, {})
    texts = found.capture.texts.all
    shown = [
        [texts[one] if one >= 0 else None for one in column.tolist()]
        if name in RECORDS[record].texts
        else column.tolist()
        for name, column in columns.items()
    ]
    return found, list(zip(*shown, strict=True))


def shown(made: Path, folder: Path, file: str) -> list[str]:
    export_raw(made, folder, ("csv",))
    (path,) = folder.rglob(f"{file}_2*.csv")
    return path.read_text().splitlines()[1:]


KERNEL = "ffff0000080cbe44 el0_svc+0x20 ([kernel.kallsyms])"
CALLER = "ffff0000080cbe00 el0_sync+0x40 ([kernel.kallsyms])"
COMPUTE = "7f8a aicpu::Run(int, A const&)+0x1c (/usr/lib64/libcpu_kernels.so)"


def test_functions_and_events_of_text(tmp_path: Path) -> None:
    text = (
        sample(0, "r11", 100, KERNEL, CALLER)
        + sample(0, "r8", 70, KERNEL, CALLER)
        + sample(0, "r11", 11, KERNEL)
        + sample(0, "raw 0x11", 500, "0 f+0x0 (a)")
        + sample(1, "r11", 30, COMPUTE)
        + sample(12, "r011", 5, COMPUTE)
        + sample(2, "r08", 9, "7f8a [unknown] ([unknown])")
        + sample(7, "r11", 1_000, COMPUTE)
    )
    made = tree(tmp_path, text)
    found, functions = rows(made, "ctrl_cpu_top_function")
    assert found.damage == []
    assert functions == [(0, "f", "a", 500), (0, "el0_svc", "[kernel.kallsyms]", 111)]
    library = "/usr/lib64/libcpu_kernels.so"
    assert rows(made, "ai_cpu_top_function")[1] == [(0, "aicpu::Run(int, A const&)", library, 35)]
    # device, name, event, count
    assert rows(made, "ctrl_cpu_pmu_events")[1] == [
        (0, "CPU_CYCLES", 0x11, 611),
        (0, "INST_RETIRED", 8, 70),
    ]
    assert rows(made, "ai_cpu_pmu_events")[1] == [
        (0, "CPU_CYCLES", 0x11, 35),
        (0, "INST_RETIRED", 8, 9),
    ]
    assert shown(made, tmp_path / "out", "ctrl_cpu_top_function") == [
        "0,f,a,500,81.833",
        "0,el0_svc,[kernel.kallsyms],111,18.167",
    ]
    assert shown(made, tmp_path / "other", "ctrl_cpu_pmu_events") == [
        "0,0x11,Cpu_cycles,611",
        "0,0x8,Inst_retired,70",
    ]


def test_names_and_numbers_are_those_that_stand_there(tmp_path: Path) -> None:
    """Where msprof shows L1i_cache_refill and unknown (U26)."""
    text = sample(0, "r10", 3, KERNEL) + sample(0, "r11", 4, "0 unknown_irq+0x4 (k)")
    text += sample(0, "r11", 2, "0 operator++(int)+0x4 (/lib/x (deleted))")
    text += sample(0, "r11", 1, "0 [unknown] ([unknown])")
    made = tree(tmp_path, text)
    found, functions = rows(made, "ctrl_cpu_top_function")
    assert found.damage == []
    assert [one[1] for one in functions] == ["unknown_irq", "operator++(int)", "unknown"]
    assert rows(made, "ctrl_cpu_pmu_events")[1][0] == (0, "BR_MIS_PRED", 0x10, 3)


@pytest.mark.parametrize(
    "wrong",
    [
        sample(0, "cycles", 1, KERNEL),
        sample(0, "rff", 1, KERNEL),
        sample(0, "r11", MOST, KERNEL),
        sample(0, "r11", 1, KERNEL, program=":77"),
        sample(0, "r11", 1),
    ],
)
@pytest.mark.parametrize("is_last", [False, True])
def test_samples_that_cannot_be_are_damage(tmp_path: Path, wrong: str, is_last: bool) -> None:
    right = sample(0, "r11", 5, KERNEL)
    found, functions = rows(
        tree(tmp_path, right + wrong if is_last else wrong + right), "ctrl_cpu_top_function"
    )
    assert functions == [(0, "el0_svc", "[kernel.kallsyms]", 5)]
    assert ["ai_ctrl_cpu: 1 of 2 samples" in one.message for one in found.damage] == [True]


def test_lines_of_no_form_are_damage_with_their_byte(tmp_path: Path) -> None:
    first = sample(0, "r11", 5, KERNEL)
    text = first + "not a sample\n\n" + sample(0, "r11", 6, KERNEL)
    found, functions = rows(tree(tmp_path, text), "ctrl_cpu_top_function")
    assert functions == [(0, "el0_svc", "[kernel.kallsyms]", 11)]
    (damage,) = found.damage
    assert damage.offset == len(first)


def test_processors_that_info_json_does_not_name_are_stated(tmp_path: Path) -> None:
    made = tree(tmp_path, sample(0, "r11", 5, KERNEL))
    path = made / "device_0" / "info.json.0"
    document = json.loads(path.read_text())
    for key in PROCESSORS:
        del document["DeviceInfo"][0][key]
    path.write_text(json.dumps(document))
    found, functions = rows(made, "ctrl_cpu_top_function")
    assert functions == []
    assert any("neither ctrl_cpu nor ai_cpu" in one.message for one in found.damage)


def test_functions_and_events_of_records(tmp_path: Path) -> None:
    """TS CPU shows five functions; the share is of all of them."""
    records = b"".join(scheduler(0x10 + one, 0x11, 10 * one, 8, one) for one in range(1, 8))
    made = tree(tmp_path, records=records + scheduler(0x17, 0x11, 30))
    found, functions = rows(made, "ts_cpu_top_function")
    assert found.damage == []
    assert functions[:2] == [(0, "0x17", None, 100), (0, "0x16", None, 60)]
    assert len(functions) == 7
    assert rows(made, "ts_cpu_pmu_events")[1] == [
        (0, "CPU_CYCLES", 0x11, 310),
        (0, "INST_RETIRED", 8, 28),
    ]
    assert shown(made, tmp_path / "out", "ts_cpu_top_function") == [
        "0,0x17,100,32.258",
        "0,0x16,60,19.355",
        "0,0x15,50,16.129",
        "0,0x14,40,12.903",
        "0,0x13,30,9.677",
    ]


def test_records_that_cannot_be_are_damage(tmp_path: Path) -> None:
    records = scheduler(1, 0x11, 5) + scheduler(2, 0xED, 5) + scheduler(3, 0x11, MOST)
    found, functions = rows(tree(tmp_path, records=records), "ts_cpu_top_function")
    assert functions == [(0, "0x1", None, 5)]
    assert ["tscpu: 2 of 3 samples" in one.message for one in found.damage] == [True]


def test_bytes_between_records_are_damage_with_their_place(tmp_path: Path) -> None:
    one = scheduler(1, 0x11, 5)
    records = one + bytes(13) + one + scheduler(2, 0x11, 7) + one[:100]
    found, functions = rows(tree(tmp_path, records=records), "ts_cpu_top_function")
    assert functions == [(0, "0x1", None, 10), (0, "0x2", None, 7)]
    assert found.damage[0].offset == len(one)
    assert len(found.damage) == 2


def test_decode_shows_both_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = tree(tmp_path, sample(0, "r11", 5, KERNEL), scheduler(1, 0x11, 5))
    data = made / "device_0" / "data"
    assert main(["decode", str(data / "ai_ctrl_cpu.data.0.slice_0")]) == 0
    assert '"function": "el0_svc+0x20"' in capsys.readouterr().out
    assert main(["decode", str(data / "tscpu.data.0.slice_0")]) == 0
    assert '"pc": 1, "timestamp": 77' in capsys.readouterr().out


def museum() -> Capture:
    return simulate(RUN.preset("text-museum")).capture(0)


def test_samples_of_a_recording_without_load_have_processors_of_their_own(tmp_path: Path) -> None:
    capture = museum()
    records = {name: one for name, one in capture.records.items() if name != "cpu_usage"}
    write_raw(tmp_path / "PROF_1", raw_view(replace(capture, records=records)).capture)
    (found,) = read_raw(tmp_path)
    assert found.damage == []
    for processor in ("ai_cpu", "ctrl_cpu"):
        own = found.capture.records[f"{processor}_top_function"]["cycles"]
        assert np.array_equal(own, records[f"{processor}_top_function"]["cycles"])


def test_events_without_cycles_come_back(tmp_path: Path) -> None:
    """Whatever function had them is not recorded."""
    capture = museum()
    name = "ctrl_cpu_pmu_events"
    only = {key: column[1:] for key, column in capture.records[name].items()}
    held = raw_view(replace(capture, records={name: only})).capture
    assert np.array_equal(held.records[name]["count"], only["count"])
    write_raw(tmp_path / "PROF_1", held)
    (found,) = read_raw(tmp_path)
    assert found.damage == []
    assert found.capture.records[name]["count"].tolist() == only["count"].tolist()
    assert "ctrl_cpu_top_function" not in found.capture.records


def test_functions_of_the_scheduler_are_addresses(tmp_path: Path) -> None:
    """What has another name has no record."""
    capture = museum()
    name = "ts_cpu_top_function"
    table = capture.records[name]
    texts = capture.texts
    renamed = {**table, "function": np.append(table["function"][:-1], texts.number("schedule"))}
    held = raw_view(replace(capture, records={name: renamed}))
    assert "1 of 4 rows of ts_cpu_top_function" in held.lost
