"""Clean files by hand: every relation between the blocks holds because it is computed here.

Independent of the simulator: small, with the names of the spec and arbitrary counters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from handmade_sources import cachelines, hot_spots, records, stall_reasons, timeline

from ascend_ref.bin import Block, canonical, to_bytes
from ascend_spec import bin_catalog

EPOCH = "E3"
MHZ = 1650
PEAK = "3.141593"
"""The share of its peak that every path reaches."""
GIB = 1 << 30

SOCS = {"910B": "Ascend910B4", "310P": "Ascend310P3", "950": "Ascend950PR_9589"}
TAGS = {"910B": "910B", "310P": "310P", "950": "910A5"}
KINDS = {
    "vector": ["vector"],
    "cube": ["cube"],
    "mix": ["cube0", "vector0", "vector1"],
    "AiCore": ["AiCore"],
}
UNITS = {
    "vector": ["Vector"],
    "cube": ["Cube"],
    "cube0": ["Cube"],
    "vector0": ["Vector"],
    "vector1": ["Vector1"],
    "AiCore": ["Cube", "Vector"],
}
SUFFIXES = {"cube0": " Cube", "vector0": " Vector Core0", "vector1": " Vector Core1"}
CASES = {
    "vector": ("910B", "vector"),
    "cube": ("910B", "cube"),
    "mix": ("910B", "mix"),
    "310P": ("310P", "AiCore"),
    "950-vector": ("950", "vector"),
    "950-cube": ("950", "cube"),
    "950-mix": ("950", "mix"),
}
"""The operators of :func:`device_file`, by name."""


@dataclass(frozen=True)
class Operator:
    """A chip, a kind of operator, and the counters of its blocks."""

    chip: str
    op_type: str

    @property
    def kinds(self) -> list[str]:
        return KINDS[self.op_type]

    @property
    def blocks(self) -> list[str]:
        """Numbers of the blocks; 310P has none."""
        return ["NA"] if self.chip == "310P" else ["0", "1"]

    def total(self, place: int, kind: str) -> int:
        return 200_000 + 7_001 * place + {"0": 0, "1": 50_003}.get(kind[-1], 11)

    def busy(self, place: int, kind: str, unit: str) -> int:
        return self.total(place, kind) // (3 if unit == "Cube" else 8) + place

    def lasted(self, place: int, kind: str) -> float:
        return self.total(place, kind) / MHZ

    @property
    def duration(self) -> float:
        places = range(len(self.blocks))
        longest = max(self.lasted(place, kind) for place in places for kind in self.kinds)
        return float(np.float32(longest + 5.25))

    def gib_per_s(self, place: int, requests: int, size: int) -> str:
        """Bandwidths of mix operators refer to the operator, others to their block."""
        mix = self.op_type == "mix"
        us = self.duration if mix else self.lasted(place, self.op_type)
        return f"{requests * size / (us / 1e6) / GIB:.6f}"

    def requests(self, place: int, table: str, row: str) -> int:
        return 1_000 * (1 + len(table)) + 77 * len(row) + 13 * place + sum(map(ord, row)) % 97

    @property
    def path_set(self):
        return bin_catalog().memory.path_set(self.chip, self.op_type, EPOCH)

    @property
    def known_tables(self):
        return bin_catalog().memory.tables(self.chip, self.op_type, EPOCH)

    def request_bytes(self, path: int) -> int:
        return bin_catalog().memory.request_bytes(self.chip, path, EPOCH) or 128


def basic(of: Operator) -> dict:
    heads = bin_catalog().memory.detail_headers(of.chip, of.op_type)
    mix = of.op_type == "mix"
    rows = []
    for place, block in enumerate(of.blocks):
        durations = [f"{of.lasted(place, kind):.6f}" for kind in of.kinds]
        number = [block] if "Block ID" in heads else []
        rows.append({"value": [*number, *([] if mix else [of.op_type]), *durations]})
    table = {"head_name": list(heads), "row": rows, "size": [len(rows) + 1, len(heads)]}
    return {
        "advice": [],
        ("mix_block_detail" if mix else "block_detail"): table,
        "block_dim": str(len(of.blocks)),
        "cur_freq": str(MHZ),
        "device_id": "0",
        "duration": of.duration,
        "mix_block_dim": str(2 * len(of.blocks)) if mix else "-1",
        "name": "add_custom",
        "op_type": of.op_type,
        "pid": "4711",
        "rated_freq": str(MHZ),
        "soc": SOCS[of.chip],
    }


def loads(code: int, of: Operator) -> dict:
    entries = []
    for place, block in enumerate(of.blocks):
        for kind in of.kinds:
            subcore = int(kind[-1]) if kind in ("vector0", "vector1") else None
            for unit in UNITS[kind]:
                core = "cube" if unit == "Cube" else "vector"
                known = bin_catalog().loads.entries(code, of.chip, core, EPOCH, subcore)
                for entry in known:
                    base = {"block_id": block, "block_type": kind, "name": entry.name}
                    numbers = load(code, of, place, kind, unit, entry.name)
                    entries.append({**base, "unit": entry.unit, **numbers})
    return {"advice": [], "subblock_detail": entries}


def load(code: int, of: Operator, place: int, kind: str, unit: str, name: str) -> dict:
    busy = of.busy(place, kind, unit)
    shares = {"Cube INT": 100, "Cube FP": busy - 100, "Cube Wait": 37}
    origin = float(shares.get(name, busy))
    if code == 0x06:
        return {"origin_value": origin, "value": 100 * origin / of.total(place, kind)}
    numbers = {
        "Cube All Active": 90,
        "Cube FP": 80,
        "Cube INT": 10,
        "Vector All Active": 28,
        "Vector All Block": 10,
    }
    parts = ["S32", "FP32", "FP16", "S16", "Misc", "Fusion", "DB Para"]
    conflicts = ["Bank Group Conflict", "Bank Conflict", "VALU Resource Conflict"]
    numbers |= {f"Vector {part}": at + 1 for at, part in enumerate(parts)}
    named = [*conflicts, "MTE Urgent Request"]
    numbers |= {f"Vector {part} Block": at + 1 for at, part in enumerate(named)}
    return {"value": str(numbers.get(name, 5))}


def tables(of: Operator) -> dict:
    return {
        "table_per_block": [
            {
                "advice": [],
                "block_id": block,
                "table_detail": [
                    {
                        "header_name": list(table.headers),
                        "row": [
                            {"name": name, "value": cells(of, place, table, number, name)}
                            for number, name in enumerate(table.rows)
                        ],
                        "size": [len(table.rows), len(table.headers) - 1],
                        "table_name": table.name,
                    }
                    for table in of.known_tables.values()
                ],
                "table_op_type": of.op_type,
            }
            for place, block in enumerate(of.blocks)
        ]
    }


def cache_row(place: int, name: str) -> tuple[int, int]:
    hits = {"L2 Cache Write": 900 + place, "L2 Cache Read": 4_000 + place, "iCache Total": 50}
    misses = {"L2 Cache Write": 100, "L2 Cache Read": 333, "iCache Total": 7}
    if name == "L2 Cache Total":
        pairs = [cache_row(place, one) for one in ("L2 Cache Write", "L2 Cache Read")]
        return sum(hit for hit, _ in pairs), sum(miss for _, miss in pairs)
    return hits[name], misses[name]


def cells(of: Operator, place: int, table, number: int, name: str) -> list[str]:
    if table.name == "Cache":
        hit, miss = cache_row(place, name)
        return [str(hit), str(miss), str(hit + miss), f"{100 * hit / (hit + miss):.6f}"]
    if table.name.startswith("Pipe"):
        kind = next(one for one in of.kinds if f"Pipe{SUFFIXES.get(one, '')}" == table.name)
        total = of.total(place, kind)
        cycle = total // (number + 2)
        found = [str(40 + number), str(cycle), "12", f"{100 * cycle / total:.6f}", "8.500000"]
        return found[: 4 if of.chip == "310P" else 5]  # as its exporter writes it
    if table.name.startswith("Scalar"):
        return [str(5_100 + number), f"{(5_100 + number) / MHZ:.6f}"]
    repeated = {where: path for path, where in of.path_set.rows.items()}
    path = repeated.get((table.name, number))
    size = 128 if path is None else of.request_bytes(path)
    count = of.requests(place, table.name, name)
    found = [str(count), of.gib_per_s(place, count, size), PEAK]
    return found[: len(table.headers) - 1]


def heat_map(of: Operator) -> dict:
    core = []
    for place, block in enumerate(of.blocks):
        units = {unit: figures(of, place, kind, unit) for kind in of.kinds for unit in UNITS[kind]}
        low = [unit for unit, found in units.items() if found["ratio"] < 20]
        core.append(
            {
                **units,
                "L2cache": l2_cache(place),
                "advice": [
                    f"{'aicore' if unit == 'Cube' else 'aivector'} compute usage lower than 20%"
                    for unit in low
                ],
                "core_no": block,
                "memory_unit": paths(of, place),
                "op_type": of.op_type,
                "soc": TAGS[of.chip],
                **({"memory_detail": "0"} if of.chip == "950" else {}),
            }
        )
    return {"core_memory_map": core}


def figures(of: Operator, place: int, kind: str, unit: str) -> dict:
    cycle, total = of.busy(place, kind, unit), of.total(place, kind)
    return {"cycle": cycle, "ratio": float(np.float32(100 * cycle / total)), "total_cycles": total}


def l2_cache(place: int) -> dict:
    hit, miss = cache_row(place, "L2 Cache Total")
    ratio = f"{100 * hit / (hit + miss):.6f}"
    return {
        "hit": str(hit),
        "hit_ratio": ratio,
        "miss": str(miss),
        "total_request": str(hit + miss),
    }


def paths(of: Operator, place: int) -> list[dict]:
    units = []
    for path in of.path_set.paths:
        table, row = of.path_set.rows.get(path, ("L2", None))
        name = of.known_tables[table].rows[row] if row is not None else str(path)
        count = of.requests(place, table, name)
        suffix = "(theoretical value)" if path == 1 and of.chip == "910B" else ""
        request = "requests_suffix" if of.chip == "310P" else "request_suffix"
        suffixes = {} if of.chip == "950" else {request: suffix, "bandwidth_suffix": suffix}
        units.append(
            {
                "bandwidth": of.gib_per_s(place, count, of.request_bytes(path)),
                "display": 1,
                "memory_path": path,
                "peak_ratio": "NA" if path < 2 else PEAK,
                "request": str(count),
                **suffixes,
            }
        )
    return units


def inter_core(of: Operator) -> dict:
    detail = []
    for place in range(len(of.blocks)):
        cores = []
        for kind in of.kinds:
            gm = f"GM{SUFFIXES.get(kind, '')}"
            names = [f"{one} Main Memory" for one in ("Read", "Write")]
            moved = 128 * sum(of.requests(place, gm, name) for name in names)
            cores.append(
                {
                    "L2cache_hit_rate": "91.250000",
                    "cycles": str(of.total(place, kind)),
                    "subcore_id": kind[-1] if kind[-1].isdigit() else "0",
                    "subcore_type": kind.rstrip("01"),
                    "throughput": str(moved),
                }
            )
        detail.append({"core_detail": cores, "core_id": place})
    return {"advice": "", "op_detail": detail, "op_type": of.op_type, "soc": SOCS[of.chip]}


def roofline(of: Operator) -> dict:
    charts = []
    for chart in bin_catalog().rooflines.charts(of.chip, of.op_type, EPOCH):
        mixed = of.op_type in ("cube", "mix") and "Vector" not in chart.title
        cube = "Cube" in chart.title or mixed
        names = bin_catalog().rooflines.computilities(of.chip, "cube" if cube else "vector", EPOCH)
        roof, achieved = 320.5, 15.25
        lines = []
        for place, name in enumerate(chart.bandwidths):
            bw, x = 4.0 + place, 30.0 + place
            lines.append(
                {
                    "bw": bw,
                    "bw_name": name,
                    "computility": roof,
                    "computility_name": names[0].replace("{p}", "100.000000"),
                    "point": [x, achieved],
                    "ratio": f"{achieved / min(x * bw, roof):.6f}",
                }
            )
        charts.append({"rooflines": lines, "title": chart.title})
    return {"advice": "memory bound", "multiple_rooflines": charts}


@cache
def device_file(case: str) -> bytes:
    """Every block type that a device run writes, and the packed records, for one operator."""
    of = Operator(*CASES[case])
    payloads = {
        0x05: basic(of),
        0x06: loads(0x06, of),
        0x07: loads(0x07, of),
        0x08: heat_map(of),
        0x09: tables(of),
        0x0C: inter_core(of),
        0x0D: roofline(of),
        0x0E: cachelines(),
        0x0F: stall_reasons(),
    }
    return to_bytes(
        [
            *hot_spots(["ALL"]),
            *(Block(code, canonical(payload)) for code, payload in payloads.items()),
            *records(),
        ]
    )


@cache
def simulator_file() -> bytes:
    """The blocks of a simulator run, in its order."""
    cores = ["core0.cubecore0", "core0.veccore0", "core0.veccore1"]
    return to_bytes([Block(0x02, canonical(timeline(cores))), *hot_spots(cores)])
