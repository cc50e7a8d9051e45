"""Small files of samples as branches of msprof write them of which no file is known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from slices import some
from text_folders import judged

from ascend_conformance.check import check
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection
from ascend_simulator import write_run
from ascend_simulator.scenario import override, preset

CORES = (
    "Device_id,Core ID,vec_ratio,mac_ratio,scalar_ratio,mte1_ratio,mte2_ratio,mte3_ratio,"
    "icache_miss_rate,memory_bound\n"
    "0,Core0,0.1,0.4,0.3,0.02,0.2,0.1,0.01,0.5\n"
    "0,Core1,0.05,0.1,0.3,0.02,0.3,0.1,0.01,3.0\n"
)
"""Two cores of a product whose cube and vector cores are one."""
MEANS = "0,Average,0.075,0.25,0.3,0.02,0.25,0.1,0.01,1.0\n"
HBM = "Device_id,Metric,Read(MB/s),Write(MB/s)\n"
PCIE = "Device_id,Mode,Min,Max,Avg\n"
PORTS = (
    "Device_id,Timestamp(us),Bandwidth(MB/s),Rx Bandwidth efficiency(%),rxPacket/s,rxError rate(%),"
    "rxDropped rate(%),Tx Bandwidth efficiency(%),txPacket/s,txError rate(%),txDropped rate(%),"
    "funcId\n"
)
MODULES = "Device_id,Component,Timestamp(us),Total Reserved(KB),Device\n"
RECORDS = "Device_id,Component,Timestamp(us),Total Allocated(KB),Total Reserved(KB),Device\n"


def found(folder: Path, files: Mapping[str, str], *rules: str) -> list[str]:
    output = (
        folder / "PROF_000001_20260101170000000_ABCDEFGHIJKLMNOP" / "mindstudio_profiler_output"
    )
    output.mkdir(parents=True)
    for name, text in files.items():
        (output / name.replace(".", "_20260101170000.")).write_text(text)
    reports = judged(output, Options(selection=Selection(select=rules), workers=1))
    return [one.rule for report in reports for one in report.findings]


def at(microsecond: int) -> str:
    return f"{1767258000000000 + microsecond}.000\t"


def layer(name: str, place: int, counters: Sequence[Mapping[str, object]]) -> str:
    """A timeline of one layer of device 0."""
    pid = 1234 << 10 | place << 5
    metadata = (
        ("process_name", {"name": name}),
        ("process_labels", {"labels": "NPU 0"}),
        ("process_sort_index", {"sort_index": place}),
    )
    one = {"pid": pid, "tid": 0}
    return json.dumps(
        [
            *({**one, "name": name, "ph": "M", "args": args} for name, args in metadata),
            *({**one, "ph": "C", **counter} for counter in counters),
        ]
    )


@pytest.mark.parametrize(
    ("means", "wrong"),
    [(MEANS, []), (MEANS.replace("0.075", "0.175"), ["CSV251"])],
)
def test_memory_bound_of_the_mean_is_not_the_mean(
    tmp_path: Path, means: str, wrong: list[str]
) -> None:
    """``add_memory_bound`` divides in the row Average as in any other."""
    assert found(tmp_path, {"ai_core_utilization.csv": CORES + means}, "CSV251") == wrong


@pytest.mark.parametrize(("mean", "wrong"), [("0.000", []), ("7.000", ["CSV410"])])
def test_units_that_read_nothing_have_a_mean_of_nothing(
    tmp_path: Path, mean: str, wrong: list[str]
) -> None:
    """``_format_hbm_data`` puts the rate of writing in the place of none, but for the mean."""
    rows = f"0,Average,{mean},21.000\n0,0,20.0001,20.0\n0,1,21.9999,22.0\n"
    assert found(tmp_path, {"hbm.csv": HBM + rows}, "CSV410") == wrong


@pytest.mark.parametrize(
    ("mean", "unit", "wrong"),
    [
        ("0.000", "20.000", []),
        ("0.000", "0.000", ["XLR711"]),
        ("21.000", "20.000", ["XLR711"]),
        ("0.000", "22.000", ["XLR711"]),
    ],
    ids=["as written", "one unit alone", "mean of the writes", "writes of another unit"],
)
def test_samples_of_units_that_read_nothing(
    tmp_path: Path, mean: str, unit: str, wrong: list[str]
) -> None:
    """``_format_hbm_data`` again, next to the samples themselves."""
    rows = f"0,Average,{mean},21.000\n0,0,{unit},20.000\n0,1,22.000,22.000\n"
    rates = {"0/Read": (0.0, 0.0), "0/Write": (10.0, 30.0), "1/Read": (0.0,), "1/Write": (22.0,)}
    samples = [
        {"name": f"HBM {of}", "ts": at(time).strip(), "args": {f"{of[2:]}(MB/s)": rate}}
        for of, values in rates.items()
        for time, rate in enumerate(values)
    ]
    files = {"hbm.csv": HBM + rows, "msprof.json": layer("HBM", 24, samples)}
    assert found(tmp_path, files, "XLR711") == wrong


@pytest.mark.parametrize(
    ("row", "with_cores", "wrong"),
    [
        ("0,Rx_np_avg(MB/s),999.999,0.3,0.1\n", True, []),
        ("0,Rx_np_avg(MB/s),0.3,0.1,0.2\n", True, ["CSV280"]),
        ("0,Rx_np_avg(MB/s),999.999,0.3,0.1\n", False, ["CSV280"]),
    ],
    ids=["no traffic in some samples", "mean above all", "the last sample alone"],
)
def test_samples_without_traffic_count_in_the_mean_of_the_least(
    tmp_path: Path, row: str, with_cores: bool, wrong: list[str]
) -> None:
    """``_get_pcie_sql_str`` takes means but for A2 and A3, and 0xFFFFF into those of the least."""
    cores = {"ai_core_utilization.csv": CORES + MEANS} if with_cores else {}
    assert found(tmp_path, {"pcie.csv": PCIE + row, **cores}, "CSV280") == wrong


@pytest.mark.parametrize(("name", "wrong"), [("other", []), ("CUSTOM", ["CSV419"])])
def test_modules_of_no_known_number_share_a_name(
    tmp_path: Path, name: str, wrong: list[str]
) -> None:
    rows = "".join(f"0,{name},{at(time)},64.0,NPU:0\n" for time in (10, 20, 10, 20))
    assert found(tmp_path, {"npu_module_mem.csv": MODULES + rows}, "CSV419") == wrong


@pytest.mark.parametrize(("back", "wrong"), [(9, []), (2000, ["CSV419"])])
def test_threads_hand_in_their_records_of_memory_side_by_side(
    tmp_path: Path, back: int, wrong: list[str]
) -> None:
    """``NpuOpMemCalculator`` leaves them in the order in which they came."""
    rows = "".join(f"0,GE,{at(time)},64.0,128.0,NPU:0\n" for time in (3000, 3000 - back))
    assert found(tmp_path, {"memory_record.csv": RECORDS + rows}, "CSV419") == wrong


@pytest.mark.parametrize(
    ("series", "wrong"),
    [
        ((["U-Die0"], ["U-Die1"]), []),
        ((["U-Die0", "U-Die1"], ["U-Die0"]), []),
        ((["U-Die0"], ["value"]), ["TRC280"]),
    ],
)
def test_an_event_has_the_dies_that_were_sampled_at_its_instant(
    tmp_path: Path, series: Sequence[Sequence[str]], wrong: list[str]
) -> None:
    """``ChipTransV6Assembler`` writes one for each die, others join those of one instant."""
    name, thread = "PCIE Read Bandwidth", 100010
    counters = [
        {"name": name, "tid": thread, "ts": at(place).strip(), "args": dict.fromkeys(names, place)}
        for place, names in enumerate(series)
    ]
    timeline = layer("Stars Chip Trans", 26, counters)
    assert found(tmp_path, {"msprof.json": timeline}, "TRC280") == wrong


@pytest.mark.parametrize("file", some(["nic", "roce"], every=2))
@pytest.mark.parametrize(
    ("efficiency", "wrong"), [("0.0", []), ("180.0", ["CSV424"])], ids=["as written", "too busy"]
)
def test_a_port_has_one_row_about_the_capture(
    tmp_path: Path, file: str, efficiency: str, wrong: list[str]
) -> None:
    """``format_nic_summary`` adds the length of the samples to the instant of the boot, and
    ``NicModel`` divides packets that were wrong since boot by those of the samples.
    """
    since_boot = at(-3 * 86_400_000_000)
    row = f"0,{since_boot},20980.0,{efficiency},0.02,206.7,30.0,0.0,0.0,0.0,0.0,0\n"
    files = {
        f"{file}.csv": PORTS + row,
        "npu_module_mem.csv": MODULES + f"0,RUNTIME,{at(1)},1024,NPU:0\n",
        "memory_record.csv": RECORDS + f"0,GE,{at(1)},1,1,NPU:0\n",
    }
    assert found(tmp_path / "own", files, "CSV424", "XLR911") == wrong
    files["memory_record.csv"] = RECORDS + f"0,GE,{since_boot},1,1,NPU:0\n"
    assert "XLR911" in found(tmp_path / "others", files, "CSV424", "XLR911")


UB = "Device_id,PortId,TimeStamp,UBRxPortBandWidth(MB/s),UBTxPortBandWidth(MB/s)\n"
OLDER_UB = (
    "Device_id,PortId,TimeStamp,UDMARxPortBandWidth(MB/s),UDMATxPortBandWidth(MB/s),"
    "UNICRxPortBandWidth(MB/s),UNICTxPortBandWidth(MB/s),UNICRxPacketRate(Packet/us),"
    "UNICRxBytes(Byte),UNICRxPackets(Packet),UNICRxErrors(Packet),UNICRxDropped(Packet),"
    "UNICTxPacketRate(Packet/us),UNICTxBytes(Byte),UNICTxPackets(Packet),UNICTxErrors(Packet),"
    "UNICTxDropped(Packet)\n"
)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (UB + f"0,1,{at(1)},12,13\n", []),
        (OLDER_UB + f"0,1,{at(1)},12,13{',0' * 12}\n", []),
        (UB + f"0,1,{at(1).strip()},12,13\n", ["CSV021"]),
        (UB.replace(",UBTxPortBandWidth(MB/s)", "") + f"0,1,{at(1)},12\n", ["CSV011"]),
    ],
    ids=["as written", "until 2026-03-23", "no tab", "no rate of sending"],
)
def test_samples_of_the_unified_bus(tmp_path: Path, text: str, wrong: list[str]) -> None:
    """``UBViewer.format_ub_summary_data``, whose instants end with a tab."""
    rules = ("CSV011", "CSV012", "CSV013", "CSV021", "CSV023")
    assert found(tmp_path, {"ub.csv": text}, *rules) == wrong


@pytest.mark.parametrize(
    ("rates", "wrong"),
    [("0,50.25,70.0", []), ("70.0,50.25,0", []), ("60.0,50.25,70.0", ["CSV280"])],
    ids=["a least delay of no length", "a mean delay of no length", "another order"],
)
def test_rates_of_a_channel_come_from_delays(tmp_path: Path, rates: str, wrong: list[str]) -> None:
    """``CCUChannelViewer._trans_delay_to_bandwidth`` makes 0 of a delay of 0."""
    header = "Device_id,Channel Id,Timestamp(us),Max Bandwidth(MB/s),Min Bandwidth(MB/s),"
    text = f"{header}Avg Bandwidth(MB/s)\n0,3,{at(1)},{rates}\n"
    assert found(tmp_path, {"ccu_channel.csv": text}, "CSV023", "CSV280") == wrong


@pytest.mark.parametrize(
    ("shares", "wrong"),
    [("12.0,3.0,0.0,0.0,0.5,20.0", []), ("0.1,0.1,0.0,0.0,0.0,0.8", ["CSV414"])],
    ids=["of lower priority", "of 1"],
)
def test_shares_of_states_leave_out_some(tmp_path: Path, shares: str, wrong: list[str]) -> None:
    """``_sys_usage_data`` divides by the time of processes of lower priority as well."""
    text = (
        f"Device_id,Cpu Type,User(%),Sys(%),IoWait(%),Irq(%),Soft(%),Idle(%)\nhost,host,{shares}\n"
    )
    assert found(tmp_path, {"cpu_usage.csv": text}, "CSV413", "CSV414") == wrong


@pytest.mark.exhaustive
@pytest.mark.parametrize(("rows", "skipped"), [(1, set()), (2, {"XLR716", "XLR717"})])
def test_ports_with_a_row_for_each_sample_are_not_compared(
    tmp_path: Path, rows: int, skipped: set[str]
) -> None:
    """The documents state that form, and no exporter is known to write it."""
    scenario = override(preset("text-museum"), steps=1, ranks=1)
    run = write_run(scenario, 0, tmp_path / "run", ("msprof-db", "csv"))
    (path,) = run.folder.rglob("nic_*.csv")
    (path.parent / path.name.replace("nic", "roce")).unlink()
    header, row = path.read_text().splitlines(keepends=True)
    path.write_text(header + rows * row)
    options = Options(selection=Selection(select=("XLR716", "XLR717")), workers=1)
    report = check([path.parents[1]], options)
    reasons = [one for file in report.files for one in file.skipped]
    assert report.findings == ()
    assert {one.rule for one in reasons if "each sample" in one.reason} == skipped


@pytest.mark.exhaustive
@pytest.mark.parametrize(("known", "wrong"), [(True, ["XLR118"]), (False, [])])
def test_a_cache_row_needs_the_name_of_an_operator_that_is_known(
    tmp_path: Path, known: bool, wrong: list[str]
) -> None:
    """Where some records are lost, the other file has no row of the task, and this one no name."""
    scenario = override(preset("text-museum"), steps=1, ranks=1)
    run = write_run(scenario, 0, tmp_path / "run", ("csv",))
    (caches,), (operators,) = (run.folder.rglob(f"{one}_*.csv") for one in ("l2_cache", "op_summ*"))
    *before, last = caches.read_text().splitlines(keepends=True)
    caches.write_text("".join([*before, ",".join([*last.split(",")[:-1], "N/A\n"])]))
    if not known:
        _, stream, task, *_ = last.split(",")
        header, *rows = operators.read_text().splitlines(keepends=True)
        places = [header.split(",").index(one) for one in ("Stream ID", "Task ID")]
        left = [one for one in rows if [one.split(",")[at] for at in places] != [stream, task]]
        assert len(left) == len(rows) - 1
        operators.write_text("".join([header, *left]))
    report = check([caches.parents[1]], Options(selection=Selection(select=("XLR118",)), workers=1))
    assert [one.rule for one in report.findings] == wrong
