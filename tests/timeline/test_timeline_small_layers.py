"""Layers of a few rows, calculated by hand from text-outputs.md 5 and 6."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from timeline_recordings import Event, layers, of_phase, simulated, written

from ascend_ref.capture import RECORDS
from ascend_ref.db.encode import encode
from ascend_ref.recorded import Output, Recorded, from_captures
from ascend_ref.recorded.shape import shape_of
from ascend_simulator.run import simulate
from ascend_simulator.scenario import RUN
from ascend_spec import catalog

START = 1_767_258_000_000_001_234
CHIPS = "Stars Chip Trans"


def with_rows(output: Output, name: str, *rows: dict[str, Any]) -> Recorded:
    """One operator and these rows of a table, or of an extra."""
    some = simulated("single-op", output)
    if name in RECORDS:
        return replace(some, extras={**some.extras, name: texts_encoded(rows)})
    schema = shape_of(output, name).schema
    columns = [
        pa.array([row.get(field.name) for row in rows], value_type(field.type)) for field in schema
    ]
    encoded = [
        column.dictionary_encode() if pa.types.is_dictionary(field.type) else column
        for field, column in zip(schema, columns, strict=True)
    ]
    table = pa.Table.from_arrays(encoded, schema=schema)
    return replace(some, tables={**some.tables, name: table})


def value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def texts_encoded(rows: tuple[dict[str, Any], ...]) -> pa.Table:
    table = pa.Table.from_pylist(list(rows))
    return pa.table(
        {
            name: table[name].combine_chunks().dictionary_encode()
            if pa.types.is_string(table[name].type)
            else table[name]
            for name in table.column_names
        }
    )


def of_layer(events: list[Event], name: str) -> list[Event]:
    """The events of a layer that are no metadata."""
    names = layers(events)
    return [event for event in events if names[event["pid"]] == name and event["ph"] != "M"]


def test_runs_of_the_garbage_collector() -> None:
    rows = {"startNs": START, "endNs": START + 2_500, "globalTid": 7 << 32 | 9}
    recorded = with_rows("pytorch", "GC_RECORD", rows)
    events = written(recorded, "adapter")["trace_view.json"]
    pid = recorded.origin.pid or 0
    assert of_layer(events, "Python GC") == [
        {
            "ph": "X",
            "name": "GC",
            "pid": pid << 10 | 1 << 5,
            "tid": pid,
            "ts": "1767258000000001.234",
            "dur": 2.5,
            "cat": "GC",
            "args": {},
        }
    ]


def test_calls_of_the_operating_system() -> None:
    row = {"name": "read", "globalTid": 7 << 32 | 9, "startNs": START, "endNs": START + 1_000}
    recorded = with_rows("msprof", "OSRT_API", row)
    for writer, args in (("cpp", [{}]), ("python", [])):
        (event,) = of_layer(written(recorded, writer)["msprof"], "OS Runtime API")
        assert (event["name"], event["tid"], event["dur"]) == ("read", 9, 1.0)
        assert [event[key] for key in event if key == "args"] == args


def test_hosts_are_sampled_without_a_device() -> None:
    rows = ({"timestampNs": START, "cpuId": 3, "usage": 12.5},)
    recorded = with_rows("msprof", "CPU_USAGE", *rows)
    events = written(recorded, "cpp")["msprof"]
    (event,) = of_layer(events, "CPU Usage")
    assert (event["name"], event["args"]) == ("CPU 3", {"Usage(%)": 12.5})
    labels = [one["args"] for one in events if one["name"] == "process_labels"]
    assert {"labels": "CPU"} in labels
    assert event["pid"] & 31 == 31


def test_ports_tell_shares_in_percent() -> None:
    row = {"deviceId": 0, "timestampNs": START, "bandwidth": 1_000, "funcId": 2}
    row |= {"rxByteRate": 250.0, "rxPacketRate": 7.0, "rxPackets": 200, "rxErrors": 1}
    row |= {"rxDropped": 4, "txByteRate": 0.0, "txPacketRate": 0.0, "txPackets": 0}
    recorded = with_rows("msprof", "ROCE", row | {"txErrors": 0, "txDropped": 0})
    received, sent = of_layer(written(recorded, "python")["msprof"], "RoCE")
    assert (received["name"], sent["name"]) == ("Port 2/Rx", "Port 2/Tx")
    assert received["args"] == {
        "Rx Bandwidth Efficiency": 25.0,
        "Rx Packets": 7.0,
        "Rx Error Rate": 0.5,
        "Rx Dropped Rate": 2.0,
    }
    assert set(sent["args"].values()) == {0.0}


def test_pcie_is_in_mebibytes_and_its_latency_in_us() -> None:
    row = dict.fromkeys(shape_of("msprof", "PCIE").schema.names, 0)
    row |= {"timestampNs": START, "txPostAvg": 3 << 20, "rxCplAvg": 1 << 19}
    row |= {"txNonpostLatencyAvg": 1_500}
    events = of_layer(written(with_rows("msprof", "PCIE", row), "cpp")["msprof"], "PCIe")
    assert {event["name"]: event["args"] for event in events} == {
        "PCIe_post": {"Tx": 3.0, "Rx": 0.0},
        "PCIe_nonpost": {"Tx": 0.0, "Rx": 0.0},
        "PCIe_cpl": {"Tx": 0.0, "Rx": 0.5},
        "PCIe_nonpost_latency": {"Tx": 1.5, "Rx": 0},
    }


def test_dies_of_one_moment_stand_side_by_side() -> None:
    def row(die: str, time: int, rate: float) -> dict[str, Any]:
        zero = dict.fromkeys(("rxReq", "rxRsp", "rxSnp", "txReq", "txRsp", "txSnp", "txDat"), 0.0)
        return {"deviceId": 0, "name": die, "timestampNs": START + time, "rxDat": rate, **zero}

    mebibyte = float(1 << 20)
    rows = [row("die 0", 0, mebibyte), row("die 1", 0, 2 * mebibyte), row("die 1", 5, 3 * mebibyte)]
    events = of_layer(written(with_rows("msprof", "SIO", *rows), "cpp")["msprof"], "SIO")
    shown = [(event["ts"][-3:], event["args"]) for event in events if event["name"] == "dat_rx"]
    assert sorted(shown) == [("234", {"die 0": 1.0, "die 1": 2.0}), ("239", {"die 1": 3.0})]
    assert len(events) == 16


def test_a_clock_that_holds_is_repeated_unless_its_times_are_wrong() -> None:
    for gap, samples in ((2_500_000, 4), (1 << 62, 2)):
        rows = [{"deviceId": 0, "timestampNs": time, "freq": 1800.0} for time in (9, 9 + gap)]
        events = written(with_rows("msprof", "AICORE_FREQ", *rows), "python")["msprof"]
        shown = of_layer(events, "AI Core Freq")
        assert [event["args"] for event in shown] == [{"MHz": 1800}] * samples
        assert shown[-1]["ts"] == f"{(9 + gap) // 1000}.{(9 + gap) % 1000:03}"


def test_the_clock_of_a_die_is_not_repeated_and_has_its_thread_in_python() -> None:
    """T73, upstream-msprof AicoreFreqViewer for dies: one event a sample, the die as tid."""
    rows = [
        {"deviceId": 0, "timestampNs": START + time, "freq": 1800.0, "dieId": die}
        for die in (0, 1)
        for time in (0, 5_000_000)
    ]
    for writer, key, threads in (("python", "value", [0, 0, 1, 1]), ("cpp", "MHz", [0] * 4)):
        recorded = with_rows("msprof", "AICORE_FREQ", *rows)
        shown = of_layer(written(recorded, writer)["msprof"], "AI Core Freq")
        assert [one["tid"] for one in shown] == threads
        assert [one["name"][-1] for one in shown] == ["0", "0", "1", "1"]
        assert [one["args"] for one in shown] == [{key: 1800}] * 4


def test_classes_of_service_are_in_whole_mebibytes() -> None:
    row = {"deviceId": 0, "eventName": "QoS OTHERS", "bandwidth": 20 << 20, "timestampNs": START}
    recorded = with_rows("msprof", "QOS", row | {"dieId": -1})
    for writer, key in (("cpp", "value"), ("python", "bandwidth(MB/s)")):
        (event,) = of_layer(written(recorded, writer)["msprof"], "QoS")
        assert (event["name"], event["args"]) == ("QoS OTHERS", {key: 20})


def test_rates_of_qos_wrap_in_databases_alone() -> None:
    """5,000 MB/s do not fit into 32 bits of Byte/s (erratum E36)."""
    capture = simulate(RUN.preset("observed-everything")).capture(0)
    rates = dict(capture.samples["QOS"], bandwidth=capture.samples["QOS"]["bandwidth"].copy())
    rates["bandwidth"][:] = 5_000 << 20
    capture = replace(capture, samples={**capture.samples, "QOS": rates})
    database = encode(capture, catalog().at(catalog().revisions[-1].id, "msprof"))
    assert set(np.array(database["QOS"]["bandwidth"]).tolist()) == {(5_000 << 20) % (1 << 32)}
    events = of_layer(written(from_captures([capture], "msprof"), "python")["msprof"], "QoS")
    assert {one["args"]["bandwidth(MB/s)"] for one in events} == {5_000}


def test_cores_and_their_average() -> None:
    rows = [
        {"deviceId": 0, "timestampNs": START, "usage": usage, "coreId": core, "coreType": kind}
        for core, usage, kind in ((0, 10.0, "AIC"), (1, 30.0, "AIC"), (0, 90.0, "AIV"))
    ]
    recorded = with_rows("msprof", "SAMPLE_PMU_TIMELINE", *rows)
    events = of_layer(written(recorded, "python")["msprof"], "AI Core Utilization")
    assert [(event["name"], event["args"]["Utilization(%)"]) for event in events] == [
        ("Core 0", 10.0),
        ("Core 1", 30.0),
        ("Average", 20.0),
    ]


def test_samples_of_single_cores_count_cycles() -> None:
    pipes = dict.fromkeys(("vector", "scalar", "cube", "mte1", "mte3"), 0)
    rows = [
        {"device": 0, "time": START + turn, "length": 1, "group": 1, "core": core, "type": kind}
        | {"period": 1_000, "mte2": 250 * turn, **pipes}
        for core, kind in ((1, "aic"), (28, "aiv"))
        for turn in range(2)
    ]
    events = written(with_rows("msprof", "biu_cycles", *rows), "python")["msprof"]
    names = layers(events)
    assert {"aic_core1_group1", "aiv1_core28_group1"} <= set(names.values())
    for name, unit in (("aic_core1_group1", 5), ("aiv1_core28_group1", 7)):
        own = [event for event in of_layer(events, name) if event["tid"] == 4]
        assert {event["pid"] >> 10 for event in own} == {unit}
        assert [(one["name"], one["ts"], one["dur"], one["args"]) for one in own] == [
            ("", "0.000", 0.0, {"cycle_num": 0, "ratio": 0.0}),
            ("", "1000.000", 250.0, {"cycle_num": 250, "ratio": 0.25}),
        ]
    threads = {one["args"]["name"] for one in of_phase(events, "M") if one["name"] == "thread_name"}
    assert {"Cube", "Mte1", "Mte2", "Mte3", "Scalar", "Vector"} <= threads


def test_samples_of_groups_are_counters() -> None:
    row = {"device": 0, "time": START, "group": 0, "read_bandwidth": 5, "write_bandwidth": 6}
    recorded = with_rows("msprof", "biu_flow", row | {"read_latency": 7, "write_latency": 8})
    events = of_layer(written(recorded, "python")["msprof"], "biu_group0")
    assert {event["name"]: event["args"] for event in events} == {
        "Latency Read": {"flow": 7},
        "Latency Write": {"flow": 8},
        "Bandwidth Read": {"flow": 5},
        "Bandwidth Write": {"flow": 6},
    }
    assert [event["pid"] >> 10 for event in events] == [4] * 4


def test_what_a_sample_does_not_have_is_nothing() -> None:
    row = {"deviceId": 0, "timestampNs": START, "type": "read", "hbmId": None, "bandwidth": None}
    (event,) = of_layer(written(with_rows("msprof", "HBM", row), "cpp")["msprof"], "HBM")
    assert (event["name"], event["args"]) == ("HBM 0/Read", {"Read(MB/s)": 0.0})


def test_samples_of_another_kind_than_the_events_of_a_layer_are_left_out() -> None:
    rows = [
        {"deviceId": 0, "timestampNs": START, "type": kind, "hbmId": 1, "bandwidth": 3 << 20}
        for kind in ("write", "refresh")
    ]
    (event,) = of_layer(written(with_rows("msprof", "HBM", *rows), "cpp")["msprof"], "HBM")
    assert (event["name"], event["args"]) == ("HBM 1/Write", {"Write(MB/s)": 3.0})


def test_voltages_are_shown_again_every_millisecond_by_python_and_not_by_cpp() -> None:
    rows = [
        {"device": 0, "supply": supply, "time": START + late, "millivolts": value}
        for supply, late, value in (
            ("Aicore Voltage", 0, 900),
            ("Aicore Voltage", 2_500_000, 850),
            ("Bus Voltage", 0, 790),
        )
    ]
    recorded = with_rows("msprof", "voltage", *rows)
    events = of_layer(written(recorded, "python")["msprof"], "Voltage Info")
    assert [(one["name"], one["ts"][-8:], one["args"]) for one in events] == [
        ("Aicore Voltage", "0001.234", {"mV": 900}),
        ("Aicore Voltage", "1001.234", {"mV": 900}),
        ("Aicore Voltage", "2001.234", {"mV": 900}),
        ("Aicore Voltage", "2501.234", {"mV": 850}),
        ("Bus Voltage", "0001.234", {"mV": 790}),
    ]
    assert "Voltage Info" not in layers(written(recorded, "cpp")["msprof"]).values()


def test_links_between_chips_have_their_number_next_to_the_level() -> None:
    row = {"device": 0, "time": START, "link": 7, "received": 3, "sent": 0}
    for writer in ("cpp", "python"):
        events = of_layer(written(with_rows("msprof", "pa_link", row), writer)["msprof"], CHIPS)
        assert [(one["name"], one["tid"], one["args"]) for one in events] == [
            ("PA Link Rx", 111111, {"PA Link Rx": 3, "PA Link ID": 7}),
            ("PA Link Tx", 111111, {"PA Link Tx": 0, "PA Link ID": 7}),
        ]


def test_pcie_by_die_is_one_event_for_all_dies_in_python_and_one_each_in_cpp() -> None:
    rows = [
        {"device": 0, "time": START, "link": die, "written": 4 + die, "read": die}
        for die in range(2)
    ]
    recorded = with_rows("msprof", "pcie_link", *rows)
    recorded = replace(recorded, origin=replace(recorded.origin, family="950"))
    read, wrote = "PCIE Read Bandwidth", "PCIE Write Bandwidth"
    shown = {
        writer: [
            (one["name"], one["args"])
            for one in of_layer(written(recorded, writer)["msprof"], CHIPS)
        ]
        for writer in ("cpp", "python")
    }
    assert shown["python"] == [
        (read, {"U-Die0": 0, "U-Die1": 1}),
        (wrote, {"U-Die0": 4, "U-Die1": 5}),
    ]
    assert sorted(shown["cpp"], key=str) == [
        (read, {"U-Die0": 0}),
        (read, {"U-Die1": 1}),
        (wrote, {"U-Die0": 4}),
        (wrote, {"U-Die1": 5}),
    ]


def test_a_chip_that_records_no_changes_shows_its_rated_clock() -> None:
    """Of 310P, from the start of the session until its end, every millisecond."""
    recorded = simulated("inference-310p", "msprof")
    origin = recorded.origin
    assert origin.facts is not None
    assert origin.end is not None
    events = of_layer(written(recorded, "python")["msprof"], "AI Core Freq")
    assert {event["args"]["MHz"] for event in events} == {origin.facts.frequency}
    ends = [int(events[at]["ts"].replace(".", "")) for at in (0, -1)]
    assert ends == [origin.start, origin.end]
    assert len(events) == (origin.end - origin.start - 1) // 1_000_000 + 2
    assert "AICORE_FREQ" not in recorded.tables
    host_alone = replace(recorded, switches=replace(recorded.switches, npu=False))
    assert of_layer(written(host_alone, "python")["msprof"], "AI Core Freq") == []
