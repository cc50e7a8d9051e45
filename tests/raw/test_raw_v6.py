"""The chips 15 and 16: tasks without streams, counters with times, samples by die."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path

from plain_capture import plain
from raw_trees import api, device_ticks, host_ticks, task_track, write_tree

from ascend_ref.raw.decode.read import read_raw

THREAD = 7
LATE = 70_000
"""A number beyond 16 bits."""


def log(kind: int, number: int, task: int, ticks: int) -> bytes:
    """32 bytes: a word, the magic number, the task, the counter."""
    return struct.pack("<HHIQ16x", kind | (number % 16) << 6, 0x6BD3, task, ticks)


def of_chip_15(prof: Path, **sample: object) -> Path:
    """The same folder as one of chip 15, with other settings."""
    for path in (prof / "host" / "info.json", prof / "device_0" / "info.json.0"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "platform_version": "15"}))
    for path in (prof / "host" / "sample.json", prof / "device_0" / "sample.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), **sample}))
    return prof


def test_tasks_have_the_stream_of_their_launch(tmp_path: Path) -> None:
    tracks = [
        task_track(THREAD, host_ticks(10_030 + 100 * at), stream, number & 0xFFFF, 0, 0)
        for at, (stream, number) in enumerate([(2, 5), (9, LATE)])
    ]
    # The upper half of the number stands where older chips have the batch.
    tracks[1] = tracks[1][:30] + struct.pack("<H", LATE >> 16) + tracks[1][32:]
    calls = [
        api(10000, 5, THREAD, host_ticks(10_000 + 100 * at), host_ticks(10_060 + 100 * at))
        for at in range(2)
    ]
    logs = [
        log(kind, number, task, device_ticks(moment))
        for number, (kind, task, moment) in enumerate(
            [(0, 5, 10_070), (1, 5, 10_080), (0, LATE, 10_170), (1, LATE, 10_190)]
        )
    ]
    prof = write_tree(
        tmp_path / "PROF_1",
        {
            "unaging.compact.task_track.slice_0": b"".join(tracks),
            "unaging.api_event.data.slice_0": b"".join(calls),
            "unaging.additional.type_info_dic.slice_0": b"5000_0:KERNEL_AICORE\n10000_5:launch\n",
        },
        {"stars_soc.data.0.slice_0": b"".join(logs)},
    )
    (found,) = read_raw(of_chip_15(prof))
    assert found.damage == []
    tasks = sorted(plain(found.capture)["tasks"])
    assert [(row[3], row[4], row[1] - row[0], row[-1]) for row in tasks] == [
        (2, 5, 10_000, "KERNEL_AICORE"),
        (9, LATE, 20_000, "KERNEL_AICORE"),
    ]
    assert all(isinstance(row[7], tuple) for row in tasks)


EVENTS = "0x501,0x301,0x1,0x701,0x202,0x203,0x34,0x35,0x714"
"""Those of PipeUtilization (ge-profiling 1.6); a record has a tenth counter."""


def pmu(task: int, flags: int, core: int, cycles: int, counts: list[int], us: range) -> bytes:
    """128 bytes, as raw-prof 4.7 has them."""
    head = struct.pack("<HHIQBBHBBHHHI", 42, 0x6BD3, task, cycles, 0, flags, 0, core, 3, 0, 0, 0, 0)
    times = device_ticks(us.start), device_ticks(us.stop)
    return head + struct.pack("<10Q2Q", *counts, *([0] * (10 - len(counts))), *times)


def test_a_kernel_on_both_kinds_of_cores_has_a_record_of_each(tmp_path: Path) -> None:
    """Its total times are from the first cycle to the last one (upstream Chip6PmuCalculator)."""
    calls = [api(10000, 5, THREAD, host_ticks(10_000), host_ticks(10_060))]
    logs = [log(kind, kind, 5, device_ticks(moment)) for kind, moment in ((0, 10_070), (1, 10_100))]
    counters = [
        pmu(5, 0b11, 0, 48_000, [0, 12_000, 480], range(10_076, 10_100)),
        pmu(5, 0b10, 1, 20_000, [5_000, 0, 0, 0, 0, 0, 40, 10], range(10_090, 10_100)),
    ]
    prof = write_tree(
        tmp_path / "PROF_1",
        {
            "unaging.compact.task_track.slice_0": task_track(
                THREAD, host_ticks(10_030), 2, 5, 108, 0
            ),
            "unaging.api_event.data.slice_0": b"".join(calls),
            "unaging.additional.type_info_dic.slice_0": b"5000_108:KERNEL_MIX_AIC\n",
        },
        {
            "stars_soc.data.0.slice_0": b"".join(logs),
            "ffts_profile.data.0.slice_0": b"".join(counters),
        },
    )
    events = {f"{core}_profiling_events": EVENTS for core in ("ai_core", "aiv")}
    (found,) = read_raw(of_chip_15(prof, **events))
    assert found.damage == []
    (values,) = found.capture.counters.values
    metrics = dict(zip(found.capture.counters.metrics, values.tolist(), strict=True))
    assert {name: value for name, value in metrics.items() if value} == {
        "aic_total_time": 24_000,
        "aic_total_cycles": 48_000,
        "aic_mac_time": 6_000,
        "aic_mac_ratio": 0.25,
        "aic_scalar_time": 240,
        "aic_scalar_ratio": 0.01,
        "aiv_total_time": 10_000,
        "aiv_total_cycles": 20_000,
        "aiv_vec_time": 2_500,
        "aiv_vec_ratio": 0.25,
        "aiv_icache_miss_rate": 0.25,
    }


def soc(kind: int, die: int, us: float, rest: Mapping[int, bytes]) -> bytes:
    """A record of 64 bytes of the SoC with more at some offsets (raw-prof 4.9)."""
    record = bytearray(struct.pack("<HHIQ48x", kind | die << 10, 0x6BD3, 0, device_ticks(us)))
    for offset, content in rest.items():
        record[offset : offset + len(content)] = content
    return bytes(record)


def test_samples_are_those_of_dies(tmp_path: Path) -> None:
    """Each pair of samples of power is exchanged; the eleventh is the clock. Of the bandwidths the
    first two are of no stream. Dies are called by their numbers.
    """
    clocks = [
        soc(29, die, us, {24 + 2 * 11: struct.pack("<H", mhz)})
        for die, us, mhz in ((0, 100, 1_800), (1, 100, 1_650), (2, 100, 55), (0, 200, 800))
    ]
    service = [soc(24, 1, 300, {24: struct.pack("<10I", 9, 9, 3, 5, *[0] * 6)})]
    passed = [
        soc(25, die, us, {28: struct.pack("<4I", *counts), 48: struct.pack("<4I", 0, 0, 0, 7)})
        for us, counts in ((0, (1, 1, 1, 1)), (1_000, (2, 4, 6, 8)))
        for die in (0, 3, 9)
    ]
    content = b"".join([*clocks, *service, *passed])
    prof = write_tree(tmp_path / "PROF_1", {}, {"stars_soc_profile.data.0.slice_0": content})
    (found,) = read_raw(of_chip_15(prof, qosEvents="READ,WRITE"))
    assert [one.message for one in found.damage] == [
        "stars_soc_profile: 2 of 6 samples have numbers that they cannot have"  # there is no die 9
    ]
    samples, every = found.capture.samples, found.capture.texts.all
    clock = samples["AICORE_FREQ"]
    assert list(zip(clock["dieId"].tolist(), clock["freq"].tolist(), strict=True)) == [
        (0, 1_800),
        (1, 1_650),
        (0, 800),
    ]
    rates = samples["QOS"]
    names = [every[one] for one in rates["eventName"].tolist()]
    assert list(zip(names, rates["bandwidth"].tolist(), rates["dieId"].tolist(), strict=True)) == [
        ("QoS READ", 3 << 20, 1),
        ("QoS WRITE", 5 << 20, 1),
    ]
    links = samples["SIO"]
    assert [every[one] for one in links["name"].tolist()] == ["D-DIE0", "U-DIE1"]
    assert [links[f"rx{kind}"].tolist() for kind in ("Req", "Rsp", "Snp", "Dat")] == [
        [2_000] * 2,
        [4_000] * 2,
        [6_000] * 2,
        [8_000] * 2,
    ]
    assert links["txDat"].tolist() == [7_000] * 2
