"""The samples of written databases against the tasks next to them, by SQL: no Byte more, none less.

Kernels tell what they moved through their counters (rate x time x working cores), copies and
transfers through their sizes. Idle devices move a little on top (db-schema.md 7.8).
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from slices import some

from ascend_simulator import write_run
from ascend_simulator.choices import Scenario
from ascend_simulator.hardware.model import machine
from ascend_simulator.scenario import parse

CAPTURE = """
schedule: {active: 2}
capture: {level: 2, aic_metrics: Memory, memory: true, sys_hardware_mem: 100, sys_io: 50,
          sys_interconnection: 50, host_sys: [disk]}
"""
DENSE = "model: {kind: dense-transformer, layers: 2, hidden: 1024, heads: 8, sequence: 512}"
SMALL = "model: {kind: cnn, image: 64, channels: 16, batch: 2}"
CASES = {
    "one host": f"{DENSE}\nparallelism: {{ranks: 4, tensor: 2}}",
    "two hosts": f"hardware: {{devices_per_host: 2}}\n{DENSE}\nparallelism: {{ranks: 4}}",
    "two dies": f"hardware: {{product: A3}}\n{DENSE}\nparallelism: {{ranks: 4, tensor: 2}}",
    "no split": f"hardware: {{product: 910A}}\n{SMALL}\nparallelism: {{ranks: 4}}",
    "cards": "hardware: {product: 310P}\nmodel: {kind: llm-inference, layers: 2, hidden: 1024, "
    "heads: 8}\nparallelism: {ranks: 2, tensor: 2}",
    "small": f"{SMALL}\nparallelism: {{ranks: 2}}",
}
WAITING = 20_000_000
"""Byte/s below which each unit of an idle memory stays; a link carries far less."""
LINK_WAITING = 400_000
MICROSECONDS = 1_000_000


class Run:
    """A written run. ranks: connections by rank."""

    def __init__(self, scenario: Scenario, ranks: list[sqlite3.Connection]) -> None:
        self.scenario, self.ranks = scenario, ranks
        self.machine = machine(scenario.hardware)

    def one(self, rank: int, query: str, *values: Any) -> Any:
        """The first value, 0 for NULL."""
        return self.ranks[rank].execute(query, values).fetchone()[0] or 0

    def has(self, table: str) -> bool:
        return bool(self.one(0, "SELECT count(*) FROM sqlite_master WHERE name = ?", table))

    def moved(self, rank: int, table: str, column: str, chosen: str = "1", key: str = "1") -> float:
        """Integral of a rate over the session, from the first sample on."""
        query = f"""
            SELECT sum({column} * length) / 1e9 FROM (
                SELECT *, timestampNs - lag(timestampNs)
                    OVER (PARTITION BY {key} ORDER BY timestampNs) AS length
                FROM {table} WHERE {chosen})"""
        return float(self.one(rank, query))

    def seconds(self, rank: int) -> float:
        return float(
            self.one(rank, "SELECT (endTimeNs - startTimeNs) / 1e9 FROM SESSION_TIME_INFO")
        )

    def transfers(self, rank: int, link: str) -> Iterator[tuple[int, int, int]]:
        """Global source, global target and size of what a rank moved over a type of link."""
        groups = json.loads(
            self.one(rank, "SELECT value FROM META_DATA WHERE name = 'parallel_group_info'")
        )
        query = """
            SELECT g.value, srcRank, dstRank, size FROM COMMUNICATION_TASK_INFO
            JOIN ENUM_HCCL_LINK_TYPE e ON e.id = linkType
            JOIN STRING_IDS g ON g.id = groupName WHERE e.name = ? AND size > 0"""
        for group, source, target, size in self.ranks[rank].execute(query, (link,)):
            members = dict(enumerate(groups[group]["global_ranks"]))
            yield members[source], members.get(target, members[source]), size

    def counted(self, rank: int, table: str, column: str) -> int:
        """How far a counter of 32 bits came."""
        query = f"""
            SELECT sum((later - earlier + (1 << 32)) % (1 << 32)) FROM (
                SELECT {column} AS later, lag({column}) OVER (ORDER BY timestampNs) AS earlier
                FROM {table})"""
        return int(self.one(rank, query))

    def sent(self, rank: int, link: str) -> int:
        return sum(size for source, _, size in self.transfers(rank, link) if source == rank)

    def received(self, rank: int, link: str) -> int:
        return sum(
            size
            for peer in range(len(self.ranks))
            if peer != rank
            for source, target, size in self.transfers(peer, link)
            if (source, target) == (peer, rank)
        )

    def copied(self, rank: int, operation: str) -> int:
        query = """
            SELECT sum(size) FROM MEMCPY_INFO JOIN ENUM_MEMCPY_OPERATION e
            ON e.id = memcpyOperation WHERE e.name = ?"""
        return int(self.one(rank, query, operation))

    def by_kernels(self, rank: int, side: str) -> int:
        """What the counters of all kernels of a chip with split cores say, whose table has GB/s
        (erratum E55).
        """
        chip = self.machine.chip
        query = """
            WITH counter AS (
                SELECT globalTaskId AS task, s.value AS name, p.value AS amount
                FROM TASK_PMU_INFO p JOIN STRING_IDS s ON s.id = p.name)
            SELECT sum(rate.amount * (1 << 30) * time.amount / 1e9 * min(blockNum, ?))
            FROM counter rate
            JOIN counter time ON time.task = rate.task AND time.name = ?
            JOIN COMPUTE_TASK_INFO ON globalTaskId = rate.task WHERE rate.name = ?"""
        cores = {"aic": chip.cube_cores, "aiv": chip.vector_cores}
        return sum(
            round(self.one(rank, query, count, f"{core}_total_time", f"{core}_main_mem_{side}_bw"))
            for core, count in cores.items()
        )


@contextmanager
def opened(case: str, folder: Path) -> Iterator[Run]:
    scenario = parse(CASES[case] + CAPTURE)
    written = write_run(scenario, 3, folder / "run").profiles
    paths = sorted(path for profile in written for path in profile.rglob("*profiler_[0-9]*.db"))
    ranks = [sqlite3.connect(path) for path in sorted(paths, key=lambda path: path.stem)]
    try:
        yield Run(scenario, ranks)
    finally:
        for rank in ranks:
            rank.close()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Run]]:
    with ExitStack() as stack:
        yield {
            case: stack.enter_context(opened(case, tmp_path_factory.mktemp("case")))
            for case in CASES
        }


@pytest.mark.parametrize("case", some(["one host", "two hosts", "two dies", "small"], every=2))
def test_the_memory_moves_what_kernels_copies_and_links_move(
    runs: dict[str, Run], case: str
) -> None:
    run = runs[case]
    for rank in range(len(run.ranks)):
        uncounted = run.one(
            rank,
            "SELECT count(*) FROM COMPUTE_TASK_INFO JOIN STRING_IDS s ON s.id = taskType "
            "WHERE s.value NOT IN ('DSA_SQE') AND globalTaskId NOT IN "
            "(SELECT globalTaskId FROM TASK_PMU_INFO)",
        )
        assert uncounted == 0
        inside = sum(size for _, _, size in run.transfers(rank, "ON_CHIP"))
        inside += run.copied(rank, "device to device")
        links = ("HCCS", "SIO", "ROCE")
        read = run.by_kernels(rank, "read") + inside + run.copied(rank, "device to host")
        read += sum(run.sent(rank, link) for link in links)
        written = run.by_kernels(rank, "write") + inside + run.copied(rank, "host to device")
        written += sum(run.received(rank, link) for link in links)
        idle = 4 * WAITING * run.seconds(rank)
        for name, told in (("read", read), ("write", written)):
            kind = f"type = (SELECT id FROM STRING_IDS WHERE value = '{name}' AND id < 1 << 28)"
            found = run.moved(rank, "HBM", "bandwidth", kind, "hbmId")
            assert 0 <= found - told + 100 <= idle


@pytest.mark.parametrize("case", CASES)
def test_links_carry_what_the_transfers_say(runs: dict[str, Run], case: str) -> None:
    run = runs[case]
    for rank in range(len(run.ranks)):
        idle = LINK_WAITING * run.seconds(rank)
        if run.has("HCCS"):
            sent = run.moved(rank, "HCCS", "txThroughput")
            received = run.moved(rank, "HCCS", "rxThroughput")
            assert 0 <= sent - run.sent(rank, "HCCS") + 100 <= idle
            assert 0 <= received - run.received(rank, "HCCS") + 100 <= idle
        if run.has("SIO"):
            for column, told in (
                ("txDat", run.sent(rank, "SIO")),
                ("rxDat", run.received(rank, "SIO")),
            ):
                assert run.moved(rank, "SIO", column, key="name") == pytest.approx(told, abs=100)
        if run.has("ROCE"):
            for side, told in (
                ("tx", run.sent(rank, "ROCE")),
                ("rx", run.received(rank, "ROCE")),
            ):
                assert run.counted(rank, "ROCE", f"{side}Bytes") == told
                packets = run.counted(rank, "NIC", f"{side}Packets")
                assert run.counted(rank, "NIC", f"{side}Bytes") == told + 62 * packets
                assert packets >= -(-told // 4_096)
                assert run.moved(rank, "ROCE", f"{side}ByteRate") == pytest.approx(told, abs=100)
        if run.has("NETDEV_STATS"):
            of_nic = run.counted(rank, "NIC", "txBytes")
            assert run.one(rank, "SELECT sum(macTxByte) FROM NETDEV_STATS") == of_nic
            assert run.one(rank, "SELECT sum(nicTxByte) FROM NETDEV_STATS") == of_nic


@pytest.mark.parametrize("case", CASES)
def test_pcie_carries_what_goes_to_the_host_and_back(runs: dict[str, Run], case: str) -> None:
    run = runs[case]
    for rank in range(len(run.ranks)):
        if not run.has("PCIE"):
            continue
        sent = run.copied(rank, "device to host") + run.sent(rank, "PCIE")
        received = run.copied(rank, "host to device") + run.received(rank, "PCIE")
        rounded = MICROSECONDS * run.seconds(rank)
        assert 0 <= sent - run.moved(rank, "PCIE", "txPostAvg") <= rounded
        assert 0 <= received - run.moved(rank, "PCIE", "rxCplAvg") <= rounded


def test_quality_of_service_tells_the_same_while_it_fits_32_bits(runs: dict[str, Run]) -> None:
    run = runs["small"]
    for rank in range(len(run.ranks)):
        inside = sum(size for _, _, size in run.transfers(rank, "ON_CHIP"))
        inside += run.copied(rank, "device to device")
        told = {
            "QoS AIC_READ": run.by_kernels(rank, "read") + inside,
            "QoS AIC_WRITE": run.by_kernels(rank, "write") + inside,
            "QoS HCCL": run.sent(rank, "HCCS") + run.received(rank, "HCCS"),
        }
        rounded = (1 << 20) * run.seconds(rank)
        for event, amount in told.items():
            name = f"eventName = (SELECT id FROM STRING_IDS WHERE value = '{event}')"
            found = run.moved(rank, "QOS", "bandwidth", name)
            assert 0 <= amount - found <= rounded, event


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_faster_than_the_hardware(runs: dict[str, Run], case: str) -> None:
    run = runs[case]
    chip, inside, ranks = run.machine.chip, run.machine.inside, len(run.ranks)
    limits = {
        "HBM": ("SELECT max(b) FROM (SELECT sum(bandwidth) b FROM HBM GROUP BY timestampNs)",
                chip.hbm_bandwidth * MICROSECONDS),
        "DDR": ("SELECT max(read + write) FROM DDR", chip.hbm_bandwidth * MICROSECONDS),
        "LLC": ("SELECT max(throughput) FROM LLC", chip.l2_bandwidth * MICROSECONDS),
        "HCCS": ("SELECT max(max(txThroughput, rxThroughput)) FROM HCCS",
                 inside.bytes_per_microsecond * (ranks - 1) * MICROSECONDS + LINK_WAITING),
        "NIC": ("SELECT max(max(txByteRate, rxByteRate) - bandwidth) FROM NIC", 0),
        "PCIE": ("SELECT max(max(rxCplMax, txPostMax)) FROM PCIE", (1 << 32) - 1),
        "LLC hits": ("SELECT max(abs(hitRate - 50)) FROM LLC", 50),
        "HOST_DISK_USAGE": ("SELECT max(usage) FROM HOST_DISK_USAGE", 100),
        "NPU_MEM": ("SELECT max(hbm + ddr) FROM NPU_MEM", chip.memory << 10),
    }  # fmt: skip
    for name, (query, limit) in limits.items():
        if run.has(name.split()[0]):
            for rank in range(ranks):
                assert run.one(rank, query) <= limit, name


@pytest.mark.parametrize("case", CASES)
def test_an_idle_device_moves_next_to_nothing(runs: dict[str, Run], case: str) -> None:
    """Between the start of the session and the first task but the profiler's own."""
    run = runs[case]
    first = """
        SELECT min(startNs) FROM TASK JOIN STRING_IDS s ON s.id = taskType
        WHERE s.value <> 'PROFILING_ENABLE'"""
    idle = {
        "HBM": "SELECT max(bandwidth) / 20e6 FROM HBM",
        "DDR": "SELECT max(max(read, write)) / 20e6 FROM DDR",
        "HCCS": "SELECT max(max(txThroughput, rxThroughput)) / 400e3 FROM HCCS",
        "PCIE": "SELECT max(max(txPostAvg, rxCplAvg)) FROM PCIE",
        "ROCE": "SELECT max(max(txByteRate, rxByteRate)) FROM ROCE",
        "NETDEV_STATS": "SELECT max(macTxByte + macRxByte) FROM NETDEV_STATS",
        "SIO": "SELECT max(txDat + rxDat) FROM SIO",
        "SOC_BANDWIDTH_LEVEL": "SELECT max(l2BufferBwLevel + mataBwLevel) FROM SOC_BANDWIDTH_LEVEL",
    }
    for table, query in idle.items():
        if run.has(table):
            for rank in range(len(run.ranks)):
                before = run.one(rank, first)
                assert run.one(rank, f"{query} WHERE timestampNs <= ?", before) <= 1, table


@pytest.mark.parametrize("case", CASES)
def test_every_total_of_the_memory_follows_from_the_blocks(runs: dict[str, Run], case: str) -> None:
    """OP_MEMORY, MEMORY_RECORD, NPU_OP_MEM, NPU_MODULE_MEM and NPU_MEM tell one story."""
    for database in runs[case].ranks:
        records: dict[str, list[tuple[int, ...]]] = {}
        for name, *row in database.execute(
            "SELECT s.value, timestamp, totalAllocated, totalReserved, totalActive "
            "FROM MEMORY_RECORD JOIN STRING_IDS s ON s.id = component ORDER BY MEMORY_RECORD.rowid"
        ):
            records.setdefault(name, []).append(tuple(row))
        framework = records["PTA"]
        assert all(0 <= held <= active <= kept for _, held, kept, active in framework)
        events: list[tuple[int, int]] = []
        left: Counter[int] = Counter()
        for size, taken, given in database.execute(
            "SELECT size, allocationTime, activeReleaseTime FROM OP_MEMORY "
            "WHERE streamPtr IS NOT NULL"
        ):
            events += [(taken, size)] + ([(given, -size)] if given is not None else [])
            left[size] += given is None
        changes: dict[int, int] = {}
        for time, change in events:
            changes[time] = changes.get(time, 0) + change
        # What a step leaves, the first one gives back of the step before the profile.
        falls = {
            row[0]: before[3] - row[3]
            for before, row in pairwise(framework)
            if row[0] not in changes and row[3] != before[3]
        }
        assert Counter(falls.values()) <= left
        changes |= {time: -fall for time, fall in falls.items()}
        last = {time: row[-1] for time, *row in framework}
        first = framework[0][0]
        active = last[first]
        for time in sorted(time for time in changes if time > first):
            active += changes[time]
            assert last[time] == active
        modules = database.execute(
            "SELECT timestampNs, totalReserved FROM NPU_MODULE_MEM m JOIN ENUM_MODULE e "
            "ON e.id = moduleId WHERE e.name = 'APP' ORDER BY timestampNs"
        ).fetchall()
        for time, reserved in modules:
            known = [row[2] for row in framework if row[0] <= time]
            assert reserved == (known[-1] if known else framework[0][2])
        both = database.execute(
            "SELECT (SELECT max(hbm + ddr) FROM NPU_MEM), (SELECT max(t) FROM (SELECT "
            "sum(totalReserved) t FROM NPU_MODULE_MEM GROUP BY timestampNs))"
        ).fetchone()
        assert both[0] >= both[1]


@pytest.mark.parametrize("case", ["small", "no split"])
def test_live_blocks_of_the_engine_lie_apart_and_add_up(runs: dict[str, Run], case: str) -> None:
    for database in runs[case].ranks:
        held: dict[int, int] = {}
        rows = database.execute(
            "SELECT s.value, addr, size, totalAllocate, totalReserve FROM NPU_OP_MEM m "
            "JOIN STRING_IDS s ON s.id = m.type ORDER BY m.rowid"
        ).fetchall()
        kept = rows[0][3] - rows[0][2]
        assert 0 <= kept <= 1 << 20
        for kind, address, size, allocated, reserved in rows:
            if kind == "allocate":
                assert all(
                    address + size <= other or other + length <= address
                    for other, length in held.items()
                )
                held[address] = size
            # Real rows state the total before a block is given back.
            assert allocated == kept + sum(held.values()) <= reserved
            if kind != "allocate":
                assert held.pop(address) == size


def test_a_leak_and_fragments_stay_visible_in_every_database(tmp_path: Path) -> None:
    def totals(faults: str) -> tuple[list[int], list[int], int]:
        document = f"{SMALL}\nschedule: {{active: 4}}\ncapture: {{memory: true, "
        document += f"sys_hardware_mem: 100}}\nfaults: [{faults}]"
        run = write_run(parse(document), 3, tmp_path / (faults[7:20] or "none"))
        path = next(run.profiles[0].rglob("*profiler_[0-9]*.db"))
        with closing(sqlite3.connect(path)) as database:
            rows = database.execute(
                "SELECT t.id, max(totalAllocated), max(totalReserved) FROM MEMORY_RECORD JOIN "
                "STRING_IDS s ON s.id = component AND s.value = 'PTA' JOIN STEP_TIME t "
                "ON timestamp BETWEEN startNs AND endNs GROUP BY 1 ORDER BY 1"
            ).fetchall()
            held = database.execute("SELECT max(hbm) - min(hbm) FROM NPU_MEM").fetchone()[0]
        return [row[1] for row in rows], [row[2] for row in rows], held

    allocated, reserved, _ = totals("")
    leaked, grown, held = totals("{kind: memory-leak, megabytes: 100}")
    assert [now - then for now, then in zip(leaked, allocated, strict=True)] == [
        count * 100 << 20 for count in (1, 2, 3, 4)
    ]
    assert grown[-1] - reserved[-1] >= 300 << 20
    assert held >= 300 << 20
    same, scattered, held = totals("{kind: fragmentation, megabytes: 100}")
    assert same == allocated
    assert scattered[-1] - reserved[-1] == 400 << 20
    assert held >= 300 << 20
