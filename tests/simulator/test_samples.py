"""What the samplers of a device find, against what moved."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import ALL, Table, busy, flow_of, sample
from tiny_timeline import START, ascending, kernel, operator, program, random_program, timeline

from ascend_ref.capture import Switches, Texts
from ascend_simulator.choices import FaultChoice, ProductName
from ascend_simulator.program.model import Collective, Launch, Program
from ascend_simulator.samples import Flow, Traffic
from ascend_simulator.world.timeline import RankTimeline
from ascend_spec import catalog

MEBI = 1 << 20
PRODUCTS = ("A2", "A3", "910A", "310P", "200I-500-A2", "950")


def flood(run: RankTimeline) -> Traffic:
    """Almost all that the memory can do, for almost all of the session."""
    start, end = START + 20_000_000, run.session[1] - 2_000_000
    amount = np.array([(end - start) * 780], np.int64)
    return Traffic(memory=Flow(np.array([start]), np.array([end]), amount, amount))


def run_of(seed: int = 3, operators: int = 40, steps: int = 3) -> RankTimeline:
    return timeline(random_program(seed, operators), steps, lead=30_000_000, pause=25_000_000)


def moved(table: Table, column: str, where: np.ndarray | None = None) -> int:
    """Byte that a rate stands for over the intervals between its samples, each row after one."""
    rows = np.ones(len(table["timestampNs"]), bool) if where is None else where
    times, rates = table["timestampNs"][rows], table[column][rows]
    return int((rates[1:] * (np.diff(times) // 1_000)).sum()) // 1_000_000


def slack(table: Table) -> int:
    """What whole numbers per second lose at most, Byte."""
    times = table["timestampNs"]
    return int(times[-1] - times[0]) // 1_000_000_000 + len(times) + 1


def more(rate: Callable[[dict[str, Table], Texts], int], run: RankTimeline) -> int:
    """What traffic adds to a sampled amount; the noise is the same without it."""
    return rate(*sample(run, busy(run))) - rate(*sample(run, still(run)))


def still(run: RankTimeline) -> Traffic:
    """Motions at the same moments that move nothing, so that the grids stay."""
    return Traffic(
        **{
            name: Flow(flow.start, flow.end, flow.read * 0, flow.written * 0)
            for name, flow in busy(run).flows().items()
        }
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 30))
def test_units_of_the_memory_together_see_every_byte(seed: int, operators: int) -> None:
    run, flows = run_of(seed, operators), {}
    for direction in ("read", "write"):

        def rate(tables: dict[str, Table], texts: Texts, kind: str = direction) -> int:
            table = tables["HBM"]
            return sum(
                moved(
                    table,
                    "bandwidth",
                    (table["type"] == texts.number(kind)) & (table["hbmId"] == unit),
                )
                for unit in range(4)
            )

        flows[direction] = more(rate, run)
    traffic = busy(run)
    links = (traffic.hccs, traffic.sio, traffic.roce, traffic.pcie)
    read = traffic.memory.read.sum() + sum(flow.written.sum() for flow in links)
    written = traffic.memory.written.sum() + sum(flow.read.sum() for flow in links)
    allowed = 8 * slack(sample(run, traffic)[0]["HBM"])
    assert abs(flows["read"] - read) <= allowed
    assert abs(flows["write"] - written) <= allowed


def test_units_of_the_memory_share_the_load_almost_evenly() -> None:
    run = run_of()
    tables, texts = sample(run, busy(run))
    table = tables["HBM"]
    reading = table["type"] == texts.number("read")
    sums = [table["bandwidth"][reading & (table["hbmId"] == unit)].sum() for unit in range(4)]
    assert max(sums) < 1.05 * min(sums)
    assert table["bandwidth"][: 2 * 4].tolist() == [0] * 8
    assert (table["bandwidth"][8:] > 0).all()


@pytest.mark.parametrize(("product", "in_ddr"), [("310P", True), ("910A", False)])
def test_ddr_carries_the_load_only_where_it_is_the_memory(product: str, in_ddr: bool) -> None:
    run = run_of()
    full, _ = sample(run, busy(run), product=product)  # type: ignore[arg-type]
    idle, _ = sample(run, still(run), product=product)  # type: ignore[arg-type]
    traffic = busy(run)
    links = (traffic.hccs, traffic.sio, traffic.roce, traffic.pcie)
    read = traffic.memory.read.sum() + sum(flow.written.sum() for flow in links)
    added = moved(full["DDR"], "read") - moved(idle["DDR"], "read")
    assert abs(added - (read if in_ddr else 0)) <= slack(full["DDR"])
    assert ("HBM" in full) != in_ddr
    held = full["NPU_MEM"]["ddr" if in_ddr else "hbm"]
    assert (held > 0).all()
    assert not full["NPU_MEM"]["hbm" if in_ddr else "ddr"].any()


@pytest.mark.parametrize(("product", "caches"), [("A2", 2), ("910A", 4), ("310P", 4)])
def test_what_the_caches_miss_is_what_the_memory_read(product: str, caches: int) -> None:
    run = run_of()

    def missed(tables: dict[str, Table], _: Texts) -> float:
        table = tables["LLC"]
        lost = table["throughput"] * (100 - table["hitRate"]) / 100
        table = {**table, "missed": lost.astype(np.int64)}
        return sum(moved(table, "missed", table["llcId"] == cache) for cache in range(caches))

    full = missed(*sample(run, busy(run), product=product))  # type: ignore[arg-type]
    idle = missed(*sample(run, still(run), product=product))  # type: ignore[arg-type]
    traffic = busy(run)
    links = (traffic.hccs, traffic.sio, traffic.roce, traffic.pcie)
    read = traffic.memory.read.sum() + sum(flow.written.sum() for flow in links)
    assert full - idle == pytest.approx(read, rel=0.001)


def test_no_cache_passes_more_than_it_can() -> None:
    run = run_of()
    table = sample(run, flood(run))[0]["LLC"]
    assert (table["throughput"] <= 4_600_000_000_000).all()
    assert (table["hitRate"] >= 0).all()


def test_events_of_quality_of_service_tell_cores_from_links() -> None:
    run = run_of()
    tables, texts = sample(run, busy(run))
    table, traffic = tables["QOS"], busy(run)
    assert not (table["bandwidth"] % MEBI).any()
    expected = {
        "QoS AIC_READ": traffic.memory.read.sum(),
        "QoS AIC_WRITE": traffic.memory.written.sum(),
        "QoS HCCL": sum(
            (flow.read + flow.written).sum() for flow in (traffic.hccs, traffic.sio, traffic.roce)
        ),
    }
    grid = np.unique(table["timestampNs"])
    for name, amount in expected.items():
        own = table["eventName"] == texts.number(name)
        rates = table["bandwidth"][own]
        seen = (rates[1:] * (np.diff(grid) // 1_000)).sum() // 1_000_000
        assert amount - seen <= MEBI * (grid[-1] - START) // 1_000_000_000 + len(grid)
        assert seen <= amount


def test_levels_of_the_buses_follow_the_load() -> None:
    run = run_of()
    idle = sample(run, Traffic())[0]["SOC_BANDWIDTH_LEVEL"]
    full = sample(run, flood(run))[0]["SOC_BANDWIDTH_LEVEL"]
    assert not idle["mataBwLevel"].any()
    assert full["mataBwLevel"].max() >= 1
    assert (full["mataBwLevel"] <= 4).all()


def test_every_accelerator_has_a_row_at_every_moment() -> None:
    run = run_of()
    table = sample(run, busy(run))[0]["ACC_PMU"]
    assert len(table["accId"]) == 28 * len(np.unique(table["timestampNs"]))
    assert not table["readBwLevel"].any()


def test_counters_of_a_port_end_at_all_that_moved() -> None:
    run = run_of()
    tables, _ = sample(run, busy(run))
    flow = busy(run).roce
    for side, amount in (("rx", flow.read.sum()), ("tx", flow.written.sum())):
        for table in (tables["ROCE"], tables["NIC"]):
            for count in ("Packets", "Bytes", "Errors", "Dropped"):
                assert ascending(table[f"{side}{count}"])
            assert (np.diff(table["timestampNs"]) > 0).all()
        packets = -(-int(amount) // 4_096)
        roce, nic = tables["ROCE"], tables["NIC"]
        assert roce[f"{side}Bytes"][-1] - roce[f"{side}Bytes"][0] == amount
        assert nic[f"{side}Packets"][-1] - nic[f"{side}Packets"][0] == packets
        assert nic[f"{side}Bytes"][-1] - nic[f"{side}Bytes"][0] == amount + 62 * packets
        seconds = np.diff(roce["timestampNs"]) / 1e9
        made = roce[f"{side}ByteRate"][1:] * seconds
        assert np.allclose(made, np.diff(roce[f"{side}Bytes"]), atol=1)


def test_differences_of_the_network_device_add_up() -> None:
    run = run_of()
    table, flow = sample(run, busy(run))[0]["NETDEV_STATS"], busy(run).roce
    for side, amount in (("Rx", flow.read.sum()), ("Tx", flow.written.sum())):
        packets = -(-int(amount) // 4_096)
        assert table[f"roce{side}Pkt"].sum() == packets
        assert table[f"mac{side}Byte"].sum() == amount + 62 * packets
        seconds = np.diff(table["timestampNs"]) / 1e9
        made = table[f"nic{side}Bandwidth"][1:] * seconds
        assert np.allclose(made, table[f"nic{side}Byte"][1:], atol=1)


@pytest.mark.parametrize(
    ("product", "rate", "names"),
    [("200I-500-A2", 1_000, ("NIC",)), ("A2", 22_000, ("NIC", "ROCE"))],
)
def test_a_port_carries_no_more_than_its_speed_headers_included(
    product: ProductName, rate: int, names: tuple[str, ...]
) -> None:
    """Transfers 2 % faster than the port for 300 ms: what does not fit follows at once."""
    run = timeline(random_program(3, 40), 3, lead=400_000_000)
    start, length = START + 20_000_000, 300_000_000
    moved_in_all = length // 1_000 * rate * 102 // 100
    amount = np.array([moved_in_all], np.int64)
    flow = Flow(np.array([start]), np.array([start + length]), amount, amount)
    tables, _ = sample(run, Traffic(roce=flow), product=product)
    in_frames = moved_in_all + 62 * -(-moved_in_all // 4_096)
    assert set(tables) & {"NIC", "ROCE"} == set(names)
    for name, expected in zip(names, (in_frames, moved_in_all), strict=False):
        table = tables[name]
        for side in ("rx", "tx"):
            rates, speed, times = table[f"{side}ByteRate"], table["bandwidth"], table["timestampNs"]
            assert (rates <= speed).all()
            full = (times[:-1] > start) & (times[1:] < start + length)
            assert full.sum() > 20
            assert (rates[1:][full] > (0.999 if name == "NIC" else 0.98) * speed[0]).all()
            counted = table[f"{side}Bytes"]
            assert ascending(counted)
            assert counted[-1] - counted[0] == expected


def test_a_port_is_read_before_its_counters_can_wrap_unseen() -> None:
    run = timeline(random_program(3, 40), 3, lead=3_000_000_000)
    slow = Switches(sys_io=1)
    tables, _ = sample(run, busy(run), slow)
    assert np.diff(tables["ROCE"]["timestampNs"]).max() * 22 < 2**31 * 1_000
    assert np.diff(tables["NETDEV_STATS"]["timestampNs"]).max() > 900_000_000


def test_links_carry_their_traffic_and_little_else() -> None:
    run = run_of()
    full, _ = sample(run, busy(run))
    idle, _ = sample(run, still(run))
    flow = busy(run).hccs
    for side, amount in (("rx", flow.read.sum()), ("tx", flow.written.sum())):
        rates = full["HCCS"][f"{side}Throughput"] - idle["HCCS"][f"{side}Throughput"]
        seen = moved({**full["HCCS"], "more": rates}, "more")
        assert abs(seen - amount) <= slack(full["HCCS"])
        assert (idle["HCCS"][f"{side}Throughput"] >= 100_000).all()


def test_dies_send_what_they_were_given() -> None:
    run = run_of()
    tables, texts = sample(run, busy(run), product="A3")
    table, flow = tables["SIO"], busy(run).sio
    sent = received = 0
    for die in ("die 0", "die 1"):
        own = table["name"] == texts.number(die)
        assert ascending(table["timestampNs"][own])
        sent += moved(table, "txDat", own)
        received += moved(table, "rxDat", own)
    assert sent == pytest.approx(flow.written.sum(), rel=0.001)
    assert received == pytest.approx(flow.read.sum(), rel=0.001)
    on_a2 = sample(run, Traffic())[0]["SIO"]
    assert not any(on_a2[name].any() for name in on_a2 if name.endswith(("Req", "Dat", "Rsp")))


def test_means_of_pcie_lie_between_their_extremes_and_fit_32_bits() -> None:
    run = run_of()
    for factor in (0, 1, 9_000):
        table = sample(run, Traffic(pcie=flow_of(run, 3 * factor, 40 * factor)))[0]["PCIE"]
        for name in (column[:-3] for column in table if column.endswith("Avg")):
            least, mean, most = (table[f"{name}{kind}"] for kind in ("Min", "Avg", "Max"))
            assert (least <= mean).all()
            assert (mean <= most).all()
            assert (least >= 0).all()
            assert (most < 2**32).all()


def test_pcie_carries_what_the_host_sends_as_completions() -> None:
    run = run_of()
    table, flow = sample(run, busy(run))[0]["PCIE"], busy(run).pcie
    allowed = 1_000_000 * (table["timestampNs"][-1] - START) // 1_000_000_000
    assert 0 <= flow.read.sum() - moved(table, "rxCplAvg") <= allowed
    assert 0 <= flow.written.sum() - moved(table, "txPostAvg") <= allowed
    assert (table["txNonpostAvg"] <= table["rxCplAvg"]).all()


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_product_has_the_tables_that_the_spec_gives_it(product: str) -> None:
    run = run_of()
    tables, _ = sample(run, busy(run), product=product)  # type: ignore[arg-type]
    expected = {
        name
        for name, table in catalog().tables.items()
        if (table.sample or name == "SAMPLE_PMU_SUMMARY")
        and table.device
        and table.writer == "msprof"
        and product in table.products
    }
    assert set(tables) == expected - {"NPU_OP_MEM"}


@pytest.mark.parametrize("product", PRODUCTS)
def test_tables_have_the_columns_of_the_newest_schema(product: str) -> None:
    run = run_of()
    newest = catalog().at(catalog().revisions[-1].id, "msprof")
    tables, texts = sample(run, busy(run), product=product)  # type: ignore[arg-type]
    for name, table in tables.items():
        assert set(table) == set(newest.tables[name].columns)
        assert len({len(column) for column in table.values()}) == 1
        for column in newest.tables[name].columns.values():
            if column.type == "stringId":
                found = {texts[number] for number in table[column.name].tolist()}
                assert not column.members or found <= set(column.members)
            elif column.maximum is not None and column.type != "counter32":
                assert table[column.name].max() <= column.maximum


@pytest.mark.parametrize(
    ("switches", "first"),
    [
        (Switches(sys_hardware_mem=50), "HBM"),
        (Switches(sys_io=100), "NIC"),
        (Switches(sys_interconnection=50), "HCCS"),
        (Switches(aic_mode="sample-based"), "SAMPLE_PMU_TIMELINE"),
    ],
)
def test_each_switch_brings_its_own_tables_and_moves_no_other(
    switches: Switches, first: str
) -> None:
    run = run_of()
    everything, all_texts = sample(run, busy(run))
    some, texts = sample(run, busy(run), switches)
    assert first in some
    for name, table in some.items():
        assert name in everything
        for column, values in table.items():
            other = everything[name][column]
            if column in ("type", "mode", "eventName", "name", "coreType", "metric"):
                assert [texts[number] for number in values.tolist()] == [
                    all_texts[number] for number in other.tolist()
                ]
            else:
                assert values.tolist() == other.tolist()


def test_without_switches_only_the_clock_is_left() -> None:
    run = run_of()
    assert list(sample(run, busy(run), Switches())[0]) == ["AICORE_FREQ"]
    assert sample(run, busy(run), Switches(), product="910A")[0] == {}
    assert sample(run, busy(run), Switches(npu=False, sys_io=50))[0] == {}
    off = Switches(aic_metrics=None, aic_mode="sample-based")
    assert list(sample(run, busy(run), off)[0]) == ["AICORE_FREQ"]


def test_seeds_differ_and_repeat() -> None:
    run = run_of()
    first, again, other = (sample(run, busy(run), seed=seed)[0] for seed in (7, 7, 8))
    assert first["HBM"]["bandwidth"].tolist() == again["HBM"]["bandwidth"].tolist()
    assert first["HBM"]["timestampNs"].tolist() != other["HBM"]["timestampNs"].tolist()


def test_lost_samples_leave_a_gap_that_the_next_one_covers() -> None:
    run = run_of(operators=3_000)
    fault = FaultChoice("lost-samples", sampler="ROCE", steps=(1, 1))
    full, _ = sample(run, busy(run))
    gap, _ = sample(run, busy(run), faults=(fault,))
    begin, end = run.step_starts[1], run.step_ends[1]
    times = full["ROCE"]["timestampNs"]
    lost = (times >= begin) & (times < end)
    assert lost.any()
    for column in ("timestampNs", "rxBytes", "txPackets"):
        assert gap["ROCE"][column].tolist() == full["ROCE"][column][~lost].tolist()
    assert gap["NIC"]["rxBytes"].tolist() == full["NIC"]["rxBytes"].tolist()


def held_by(name: str, table: Table) -> np.ndarray:
    newest = catalog().at(catalog().revisions[-1].id, "msprof")
    ids = {member: number for number, member in newest.enums["ENUM_MODULE"].items()}
    own: np.ndarray = table["totalReserved"][table["moduleId"] == ids[name]]
    return own


def test_modules_report_what_the_allocators_reserve() -> None:
    run = run_of()
    leak = FaultChoice("memory-leak", megabytes=100, steps=(1, 1))
    clean = held_by("APP", sample(run, Traffic())[0]["NPU_MODULE_MEM"])
    leaked = held_by("APP", sample(run, Traffic(), faults=(leak,))[0]["NPU_MODULE_MEM"])
    assert clean[0] == 100 * MEBI
    assert leaked[-1] - clean[-1] == 100 * MEBI
    assert ascending(clean)


def test_the_process_holds_its_modules_and_the_device_the_process() -> None:
    run = run_of()
    tables, texts = sample(run, Traffic())
    memory, modules = tables["NPU_MEM"], tables["NPU_MODULE_MEM"]
    process = memory["hbm"][memory["type"] == texts.number("app")]
    device = memory["hbm"][memory["type"] == texts.number("device")]
    sums = modules["totalReserved"].reshape(len(process), -1).sum(axis=1)
    assert process[-1] > sums[-1]
    assert (device > process).all()
    assert held_by("HCCL", modules).any() == any(
        isinstance(item, Collective) for item in run.program.items
    )


def plain(blocks: int = 1) -> Program:
    return program([operator()], [Launch(0, (kernel(blocks=blocks),))])


def test_a_program_without_communication_keeps_no_buffers_for_it() -> None:
    tables, _ = sample(timeline(plain()), Traffic())
    assert not held_by("HCCL", tables["NPU_MODULE_MEM"]).any()


def test_the_shortest_session_has_samples_inside_of_it() -> None:
    run = timeline(plain(), 1, lead=2_000)
    tables, _ = sample(run, busy(run))
    for table in tables.values():
        if "timestampNs" in table:
            assert (table["timestampNs"] >= run.session[0]).all()
            assert (table["timestampNs"] <= run.session[1]).all()
    assert ALL.sys_hardware_mem == 50
