"""Side files and files of text: real ones are accepted and taken apart, wrong ones are not.

The documents of 2022 and 2023 are those that raw-prof.md 0 names; address and name of the machine
are replaced.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from seed_tables import SHARED
from test_vocabulary import errors

from ascend_spec import packaged, raw_catalog, recording_catalog
from ascend_spec.raw.side_files import SIDE_FILES
from ascend_spec.raw.text import Grammar

# --- real side files ------------------------------------------------------------------------------

INFO_2023 = json.loads("""
{"jobInfo":"NA","version":"1.0","mac":"00-00-5E-00-53-01","OS":"Linux-4.19.36.aarch64","cpuCores":1,
"hostname":"host","hwtype":"aarch64","devices":"0","platform":"","CPU":[{"Id":0,"Name":"HiSilicon",
"Frequency":1000,"Logical_CPU_Count":1,"Type":"TaishanV110"}],"DeviceInfo":[{"id":0,"env_type":3,
"ctrl_cpu_id":"ARMv8_Cortex_A55","ctrl_cpu_core_num":1,"ctrl_cpu_endian_little":1,
"ts_cpu_core_num":4,"ai_cpu_core_num":14,"ai_core_num":32,"ai_cpu_core_id":2,"ai_core_id":0,
"aicpu_occupy_bitmap":65532,"ctrl_cpu":"0","ai_cpu":"2,3,4,5,6,7,8,9,10,11,12,13,14","aiv_num":0,
"hwts_frequency":"100","aic_frequency":"1000","aiv_frequency":"1000"}],"platform_version":"1",
"pid":"10036","memoryTotal":791800000,"cpuNums":192,"sysClockFreq":100,
"upTime":"56579.93 10636495.21","netCardNums":0,"netCard":[{"netCardName":"enp189s0f0",
"speed":1000}],"rank_id":0,"cycleToTime":[{"realCpuFreq":0.10000107799829344,
"calibration":"139779701887"}],"pid_name":"python"}
""")
START_2023 = {
    "collectionDateBegin": "2023-08-18 14:27:04.324979",
    "collectionTimeBegin": "1692340024324979",
    "clockMonotonicRaw": "56579931060630",
}
END_2023 = {
    "collectionDateEnd": "2023-08-18 14:28:02.430569",
    "collectionTimeEnd": "1692340082430569",
    "clockMonotonicRaw": "56638036649460",
}
START_2022 = {
    "collectionDateBegin": "2022-07-29 20:44:39.447393",
    "collectionTimeBegin": "1659098679447393",
    "clockMonotonicRaw": "876117208663770",
}
SAMPLE_2022 = {
    **{
        "ai_core_metrics": "PipeUtilization",
        "ai_core_profiling": "on",
        "ai_core_profiling_events": "0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55",
        "ai_core_profiling_metrics": "",
        "ai_core_profiling_mode": "task-based",
        "aicore_sampling_interval": 10,
        "aiv_metrics": "PipeUtilization",
        "aiv_profiling": "on",
        "aiv_profiling_events": "0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55",
        "aiv_profiling_mode": "task-based",
        "aiv_sampling_interval": 10,
    },
    **{"app": "python3", "biu_freq": 1000, "ddr_master_id": 0, "devices": "2"},
    **{"hbm_profiling_events": "", "host_disk_freq": 50, "l2CacheTaskProfilingEvents": ""},
    **{"llc_profiling": "read", "msprofBinPid": 68531, "msproftx": "off", "profiling_period": -1},
    **{"result_dir": "PROF_000001_20220729204439087_FMDBBBNDOAKFEOIA/device_2/"},
}

# The recipe of raw-prof 6.1, of the current collector.
INFO_HOST = {
    "version": "1.0",
    "devices": "64",
    "platform_version": "5",
    "pid": "4242",
    "hostname": "host",
    "memoryTotal": 0,
    "netCard": [],
    "drvVersion": 467473,
    "DeviceInfo": [],
    "CPU": [{"Id": 0, "Frequency": "100.000000", "Logical_CPU_Count": "64"}],
}
DEVICE = {"ai_core_num": 24, "aiv_num": 48, "aic_frequency": "1800", "aiv_frequency": "1800"}
INFO_DEVICE = {
    **INFO_HOST,
    "devices": "0",
    "DeviceInfo": [{"id": 0, **DEVICE, "hwts_frequency": "50.000000"}],
}
SAMPLE_HOST = {"devices": "64", "llc_profiling": "read", "ai_core_profiling_mode": "task-based"}

SOUND: list[tuple[str, Mapping[str, Any]]] = [
    ("info", INFO_2023),
    ("info", INFO_HOST),
    ("info", INFO_DEVICE),
    ("info", {**INFO_HOST, "pid": "NA", "CPU": [{"Frequency": ""}]}),
    ("sample", SAMPLE_2022),
    ("sample", SAMPLE_HOST),
    ("start_info", START_2023),
    ("start_info", START_2022),
    ("start_info", {**START_2023, "collectionDateEnd": "", "collectionTimeEnd": ""}),
    ("end_info", END_2023),
    ("end_info", {**END_2023, "collectionDateBegin": "", "collectionTimeBegin": ""}),
]


def without(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {one: value for one, value in document.items() if one != key}


WRONG: list[tuple[str, Any, str]] = [
    ("info", [INFO_HOST], "is not of type 'object'"),
    ("info", {**INFO_HOST, "pid": 4242}, "4242 is not of type 'string'"),
    ("info", {**INFO_HOST, "pid": "none"}, "'none' does not match"),
    ("info", {**INFO_HOST, "platform_version": "Ascend910B"}, "does not match"),
    ("info", {**INFO_HOST, "DeviceInfo": INFO_DEVICE["DeviceInfo"]}, "expected to be empty"),
    ("info", {**INFO_DEVICE, "DeviceInfo": []}, "[] should be non-empty"),
    (
        "info",
        {**INFO_DEVICE, "DeviceInfo": [{"id": 0, **DEVICE}]},
        "'hwts_frequency' is a required",
    ),
    (
        "info",
        {**INFO_DEVICE, "DeviceInfo": [{"id": 0, **DEVICE, "hwts_frequency": "0"}]},
        "'0' does not match",
    ),
    (
        "info",
        {**INFO_DEVICE, "DeviceInfo": [{"id": 0, **DEVICE, "hwts_frequency": 50}]},
        "50 is not of type 'string'",
    ),
    ("info", {**INFO_HOST, "CPU": []}, "[] should be non-empty"),
    ("info", {**INFO_HOST, "CPU": [{"Frequency": "fast"}]}, "'fast' does not match"),
    ("info", without(INFO_HOST, "netCard"), "'netCard' is a required property"),
    ("sample", without(SAMPLE_2022, "aiv_metrics"), "'aiv_metrics' is a required property"),
    ("sample", without(SAMPLE_HOST, "llc_profiling"), "'llc_profiling' is a required property"),
    ("sample", {**SAMPLE_HOST, "ai_core_profiling_mode": "task"}, "'task' is not one of"),
    ("sample", {**SAMPLE_2022, "aiv_profiling_events": "8,a"}, "'8,a' does not match"),
    ("sample", {**SAMPLE_2022, "app": None}, "None is not of type"),
    ("start_info", {**START_2023, "collectionTimeBegin": 1692340024324979}, "not of type 'string'"),
    ("start_info", {**START_2023, "clockMonotonicRaw": "-1"}, "'-1' does not match"),
    ("start_info", END_2023, "'collectionDateBegin' is a required property"),
    ("end_info", START_2023, "'collectionDateEnd' is a required property"),
    ("end_info", {**END_2023, "collectionDateEnd": "today"}, "'today' does not match"),
]


def faults(name: str, document: Any) -> list[str]:
    schema = raw_catalog().document_schema(name)
    return [error.message for error in Draft202012Validator(schema).iter_errors(document)]


@pytest.mark.parametrize("name", SIDE_FILES)
def test_a_schema_obeys_the_dialect(name: str) -> None:
    assert errors("dialect", packaged().folder.read(f"raw/side/{name}.schema.yaml")) == []
    Draft202012Validator.check_schema(raw_catalog().document_schema(name))


def test_no_schema_is_left_out() -> None:
    held = {name for name, _ in packaged().folder.documents("raw/side")}
    assert held == {f"raw/side/{name}.schema.yaml" for name in SIDE_FILES}
    with pytest.raises(KeyError, match="unknown side file 'ranktable'"):
        raw_catalog().document_schema("ranktable")


@pytest.mark.parametrize(("name", "document"), SOUND)
def test_a_sound_side_file_is_accepted(name: str, document: Mapping[str, Any]) -> None:
    assert faults(name, document) == []


@pytest.mark.parametrize(("name", "document", "message"), WRONG)
def test_a_wrong_side_file_is_refused(name: str, document: Any, message: str) -> None:
    assert any(message in fault for fault in faults(name, document))


# --- lines ----------------------------------------------------------------------------------------

LINES: list[tuple[str, str, str, Mapping[str, str]]] = [
    ("host_start", "[Host]", "section", {"section": "Host"}),
    ("host_start", "clock_monotonic_raw: 1000", "monotonic", {"clock_monotonic_raw": "1000"}),
    ("host_start", "cntvct:7000000000", "counter", {"cntvct": "7000000000"}),
    ("host_start", "cntvct_diff: 0", "difference", {"cntvct_diff": "0"}),
    ("dev_start", "cntvct: 3000000000", "counter", {"cntvct": "3000000000"}),
    (
        "hash_dic",
        "6251491202591237330:a:b c",
        "entry",
        {"hash": "6251491202591237330", "text": "a:b c"},
    ),
    (
        "type_info_dic",
        "5000_1003:KernelLaunch",
        "entry",
        {"level": "5000", "type": "1003", "name": "KernelLaunch"},
    ),
    ("done", "filesize:1021", "size", {"filesize": "1021"}),
    ("done", "endtime  :77", "end", {"endtime": "77"}),
    ("hccs", "1000:   5 6", "sample", {"time": "1000", "sent": "5", "received": "6"}),
    ("memory", "TimeStamp:1000", "time", {"time": "1000"}),
    (
        "memory",
        "MemTotal:  791800000 kB",
        "figure",
        {"name": "MemTotal", "amount": "  791800000 kB"},
    ),
    ("memory", "", "end", {}),
    ("process_memory", "ProcessName:python", "name", {"name": "python"}),
    (
        "process_memory",
        "1 2 3 4 0 5 0",
        "memory",
        {
            **{"size": "1", "resident": "2", "shared": "3", "text": "4"},
            **{"libraries": "0", "data": "5", "dirty": "0"},
        },
    ),
    ("host_cpu", "time 1000", "time", {"time": "1000"}),
    ("host_cpu", "56579.93 10636495.21", "uptime", {"up": "56579.93", "idle": "10636495.21"}),
    (
        "host_cpu",
        f"42 (a) b) S 4 5 6 7 8 9 10 11 12 13 140 150 {' '.join(map(str, range(16, 39)))} 3 40 41",
        "thread",
        {
            **{"thread": "42", "name": "a) b", "state": "S 4 5 6 7 8 9 10 11 12 13"},
            **{"user": "140", "system": "150", "others": " ".join(map(str, range(16, 39)))},
            **{"processor": "3", "rest": "40 41"},
        },
    ),
    ("host_disk", "start_time 1000", "start", {"time": "1000"}),
    (
        "host_disk",
        "11:00:03  4242 be/4 root 0.00 B/s 1.50 K/s 0.00 % 0.10 % python3 train.py",
        "sample",
        {
            **{"clock": "11:00:03", "pid": "4242", "priority": "be/4", "user": "root"},
            **{"read": "0.00", "read_unit": "B/s", "write": "1.50", "write_unit": "K/s"},
            **{"swap": "0.00", "usage": "0.10", "command": "python3 train.py"},
        },
    ),
    (
        "host_disk",
        "11:00:03  4242 be/4 root 0.00 B/s 1.50 K/s ?unavailable? python3 train.py",
        "unaccounted",
        {
            **{"clock": "11:00:03", "pid": "4242", "priority": "be/4", "user": "root"},
            **{"read": "0.00", "read_unit": "B/s", "write": "1.50", "write_unit": "K/s"},
            **{"command": "?unavailable? python3 train.py"},
        },
    ),
    (
        "host_network",
        "  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
        "card",
        {
            **{"name": "eth0", "rx_bytes": "1", "rx_packets": "2", "rx_errors": "3"},
            **{"rx_others": "4 5 6 7 8", "tx_bytes": "9", "tx_packets": "10"},
            **{"tx_errors": "11", "tx_others": "12 13 14 15 16"},
        },
    ),
    (
        "host_syscall",
        "  1234.567 ( 0.012 ms): python3/4242 futex(uaddr: 0x7f) = 0",
        "call",
        {
            **{"start": "1234.567", "length": "0.012", "command": "python3"},
            **{"thread": "4242", "name": "futex", "rest": "uaddr: 0x7f) = 0"},
        },
    ),
    (
        "host_pthreadcall",
        "[pid 12] 1700000000.123456 libc.so.6->pthread_mutex_lock(0x1) = 0 <0.000123>",
        "call",
        {
            **{"thread": "12", "start": "1700000000.123456", "object": "libc.so.6"},
            **{"name": "pthread_mutex_lock", "rest": "0x1) = 0", "length": "0.000123"},
        },
    ),
]

NUMBERS = "1 2 3 4 5 6 7 8 9 10 11 12 13"


def grammar(name: str) -> Grammar:
    return raw_catalog().grammars[name]


def test_the_grammars_obey_their_meta_schema() -> None:
    assert errors("raw_text", packaged().folder.read("raw/text.yaml")) == []


@pytest.mark.parametrize(("name", "text", "line", "parts"), LINES)
def test_a_line_is_taken_apart(name: str, text: str, line: str, parts: Mapping[str, str]) -> None:
    found = grammar(name).line_of(text)
    assert found is not None
    assert (found[0].line, found[1]) == (line, parts)


@pytest.mark.parametrize(("name", "text", "line", "parts"), LINES)
def test_a_line_that_is_written_is_read(
    name: str, text: str, line: str, parts: Mapping[str, str]
) -> None:
    written = grammar(name).lines[line].write(**parts)
    assert grammar(name).lines[line].read(written) == parts
    assert "".join(written.split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("host_start", "cntvct"),
        ("host_start", "cntvct: -1"),
        ("dev_start", "cntvct_diff: 0"),
        ("hash_dic", "Conv2D"),
        ("hash_dic", "-5:Conv2D"),
        ("hash_dic", "123456789012345678901:Conv2D"),
        ("type_info_dic", "5000:KernelLaunch"),
        ("done", "filesize:"),
        ("netdev_stats", NUMBERS),
        ("nic", "1000 1 2 3"),
        ("host_network", "eth0: 1 2 3"),
        ("host_mem", "1000 1 2"),
    ],
)
def test_a_line_of_another_form_is_none(name: str, text: str) -> None:
    assert grammar(name).line_of(text) is None


@pytest.mark.parametrize("name", ["nic", "roce"])
@pytest.mark.parametrize(
    ("end", "function", "kind"), [("", None, None), (" 0", "0", None), (" 1 0", "1", "0")]
)
def test_samples_of_ports_have_three_lengths(
    name: str, end: str, function: str | None, kind: str | None
) -> None:
    """Thirteen numbers, with the port and the kind behind them on newer devices."""
    found = grammar(name).line_of(f"1000:  {NUMBERS}{end}")
    assert found is not None
    line, parts = found
    assert line.line == "sample"
    assert (parts["time"], parts["bandwidth"], parts["tx_dropped"]) == ("1000", "1", "13")
    assert (parts.get("function"), parts.get("kind")) == (function, kind)
    assert line.write(**parts) == f"1000: {NUMBERS}{end}"


def test_the_header_of_ports_is_known_by_a_word() -> None:
    found = grammar("nic").line_of("timestamp bandwidth rxPacket/s rxByte/s")
    assert found is not None
    assert found[0].line == "header"


def test_counters_of_the_card_are_fifteen() -> None:
    found = grammar("netdev_stats").line_of("1000 " + " ".join(map(str, range(15))))
    assert found is not None
    assert list(found[1].values()) == ["1000", *map(str, range(15))]


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"level": 5000, "type": 1}, KeyError),
        ({"level": 5000, "type": "x", "name": "a"}, ValueError),
    ],
)
def test_a_line_that_cannot_be_is_not_written(
    parts: Mapping[str, object], problem: type[Exception]
) -> None:
    with pytest.raises(problem):
        grammar("type_info_dic").lines["entry"].write(**parts)


def test_a_long_line_is_read_in_no_time() -> None:
    """Whatever stands in a line, no form goes back and forth over it."""
    gap = f"a{' ' * 100_000}b"
    for text in ("1 " * 50_000, "1/" * 50_000, "a:" * 50_000, "<" * 100_000, gap):
        for one in raw_catalog().grammars.values():
            one.line_of(text)


def test_parts_show_what_the_recording_has() -> None:
    entities = recording_catalog().entities
    parts = [part for one in raw_catalog().grammars.values() for part in one.parts.values()]
    shown = {of for part in parts for of in part.shows.of}
    assert len(shown) > 40
    assert {
        of for of in shown if of.partition(".")[2] not in entities[of.partition(".")[0]].columns
    } == set()


def test_every_part_is_in_a_line() -> None:
    for one in raw_catalog().grammars.values():
        used = {part for line in one.lines.values() for part in line.form.fields}
        assert used == one.parts.keys(), one.grammar


def test_the_real_clocks_of_2020_are_read() -> None:
    path = SHARED / "data" / "mindspore" / "mindinsight" / "JOB3" / "host_start.log.1"
    if not path.is_file():
        pytest.skip(f"{path.name} is not next to the project in ../shared/data")
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [grammar("host_start").line_of(line) for line in lines if line]
    assert [one and (one[0].line, *one[1].values()) for one in found] == [
        ("section", "Device0"),
        ("realtime", "1591183963784568740"),
        ("monotonic", "261003032627"),
    ]
