"""What communication.json and communication_matrix.json show, from the tables of analysis.db.

Source: text-outputs.md 7.8. Sizes are MB of 10^6 Byte, times ms. The numbers of the tables stand in
the report as they are; what it adds are shares, links that were not used, and totals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.capture.batch import Reals

from .decimals import python_round
from .matching import divided
from .matrix import RATE_PLACES

Report: TypeAlias = dict[str, dict[str, Any]]
"""Of one step, by class of operator: values by operator and key, as the documents nest them."""

CLASSES = ("p2p", "collective")
SHOWN_LINKS = ("RDMA", "HCCS", "PCIE", "SDMA", "SIO")
"""Links that every operator lists, used or not."""
TOTAL = "Total Op Info"
START = "start_timestamp"
TIMES = {
    "Start Timestamp(us)": START,
    "Elapse Time(ms)": "elapse_time",
    "Transit Time(ms)": "transit_time",
    "Wait Time(ms)": "wait_time",
    "Synchronization Time(ms)": "synchronization_time",
    "Idle Time(ms)": "idle_time",
}
"""Column of CommAnalyzerTime by key of the document."""
LINK = {
    "Transit Size(MB)": "transit_size",
    "Transit Time(ms)": "transit_time",
    "Bandwidth(GB/s)": "bandwidth",
    "Large Packet Ratio": "large_packet_ratio",
}
"""Column of CommAnalyzerBandwidth by key of the document."""
FLOW = {
    "Transit Size(MB)": "transit_size",
    "Transit Time(ms)": "transit_time",
    "Bandwidth(GB/s)": "bandwidth",
}
"""Column of CommAnalyzerMatrix by key of the document, after the link."""
FLOAT_STEP = 0.25
"""Floats of today's instants in us are so far apart."""
FARTHEST = 1000.0
"""us by which the clocks of two databases of one capture may differ; real ones do by up to 304."""
NEGLIGIBLE = 1e-15
"""A divisor below this counts as 0."""


def quotients(dividend: Reals, divisor: Reals) -> Reals:
    """Shares and rates with four decimals as Python rounds them; 0 where the divisor is 0."""
    found = divided(dividend, divisor, np.abs(divisor) >= NEGLIGIBLE)
    return python_round(found, RATE_PLACES)


def starts_of_operators(times: pa.Table, operators: pa.Table) -> pa.Array:
    """Starts of the rows of CommAnalyzerTime in us, on the clock of COMMUNICATION_OP.

    The clock of analysis.db is calibrated apart: where every operator starts by the same time too
    late or too early, it starts when COMMUNICATION_OP says (see CommAnalyzerTime in the spec).
    """
    stated = times.column(START).combine_chunks()
    names = operators.column("opName").cast(pa.string()).to_pylist()
    once = {name for name, count in Counter(names).items() if count == 1}
    starts = zip(names, operators.column("startNs").to_pylist(), strict=True)
    start_of = {name: start / 1000 for name, start in starts if name in once}
    found = [start_of.get(name) for name in _texts(times, "hccl_op_name")]
    known = pa.array(found, pa.float64())
    apart = np.array(pc.subtract(stated, known).drop_null())
    shift = float(np.median(apart)) if len(apart) else 0.0
    if not FLOAT_STEP < abs(shift) < FARTHEST or np.ptp(apart) > 2 * FLOAT_STEP:
        return stated
    return pc.coalesce(known, pc.subtract(stated, shift))


def communication_report(
    times: pa.Table, bandwidths: pa.Table, steps: Sequence[str] = ()
) -> Iterator[tuple[str, Report]]:
    """Each step with its operators, the ``steps`` given first, even those without operators.

    times, bandwidths: CommAnalyzerTime and CommAnalyzerBandwidth. Rows without a class, which are
    totals, are left out, and so are links that the document does not know. Null counts as 0.
    """
    columns = _numbers(times, TIMES)
    transit, wait, early = (
        times.column(name).fill_null(0.0).to_numpy()
        for name in ("transit_time", "wait_time", "synchronization_time")
    )
    columns["Wait Time Ratio"] = quotients(wait, wait + transit).tolist()
    columns["Synchronization Time Ratio"] = quotients(early, early + transit).tolist()
    links = _links(bandwidths)
    for step, rows in _by_step(times, steps):
        report: Report = {name: {} for name in CLASSES}
        for row, name, operator in rows:
            found = links.get((step, name, operator), {})
            report[name][operator] = {
                "Communication Time Info": {key: values[row] for key, values in columns.items()},
                "Communication Bandwidth Info": {
                    # A link over which nothing moved stands there as well.
                    link: found.get(link) or {**dict.fromkeys(LINK, 0), "Size Distribution": {}}
                    for link in SHOWN_LINKS
                },
            }
        for operators in report.values():
            if operators:
                operators[TOTAL] = total(list(operators.values()))
        yield step, report


def matrix_report(matrix: pa.Table, steps: Sequence[str] = ()) -> Iterator[tuple[str, Report]]:
    """Each step with the chosen flows of its kinds of operators; ``steps`` as above.

    matrix: CommAnalyzerMatrix. A flow is keyed by its ranks, ``0-1``; a total has no operator.
    """
    columns = _numbers(matrix, FLOW)
    source, target, operator = (
        _texts(matrix, name) for name in ("src_rank", "dst_rank", "op_name")
    )
    link = matrix.column("transport_type").to_pylist()
    for step, rows in _by_step(matrix, steps):
        report: Report = {name: {} for name in CLASSES}
        for row, name, kind in rows:
            flow = {"Transport Type": link[row]}
            flow |= {key: values[row] for key, values in columns.items()}
            if operator[row]:
                flow["Op Name"] = operator[row]
            report[name].setdefault(kind, {})[f"{source[row]}-{target[row]}"] = flow
        yield step, report


def total(operators: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """``Total Op Info`` of operators as the document has them: sums in their order, shares anew."""
    times: dict[str, float] = {}
    links: dict[str, dict[str, Any]] = {}
    for operator in operators:
        for key, value in operator["Communication Time Info"].items():
            if not key.endswith("Ratio") and not key.startswith("Start"):
                times[key] = times.get(key, 0.0) + value
        for link, values in operator["Communication Bandwidth Info"].items():
            sums = links.setdefault(
                link, {"Transit Time(ms)": 0, "Transit Size(MB)": 0, "Size Distribution": {}}
            )
            sums["Transit Time(ms)"] += values["Transit Time(ms)"]
            sums["Transit Size(MB)"] += values["Transit Size(MB)"]
            for size, (count, duration) in values["Size Distribution"].items():
                packets = sums["Size Distribution"].setdefault(size, [0, 0])
                packets[0] += count
                packets[1] += duration
    transit = np.array([times["Transit Time(ms)"]])
    for name in ("Wait Time", "Synchronization Time"):
        spent = np.array([times[f"{name}(ms)"]])
        times[f"{name} Ratio"] = float(quotients(spent, spent + transit)[0])
    return {"Communication Time Info": times, "Communication Bandwidth Info": links}


def _links(bandwidths: pa.Table) -> dict[tuple[str, str, str], dict[str, dict[str, Any]]]:
    """By step, class and operator its links, with their packets by size."""
    found: dict[tuple[str, str, str], dict[str, dict[str, Any]]] = {}
    columns = _numbers(bandwidths, LINK)
    packets = (
        bandwidths.column(name).fill_null(0).to_pylist()
        for name in ("package_size", "count", "total_duration")
    )
    places = zip(
        _texts(bandwidths, "step"),
        _texts(bandwidths, "type"),
        _operators(bandwidths),
        _texts(bandwidths, "transport_type"),
        zip(*packets, strict=True),
        strict=True,
    )
    for row, (step, name, operator, link, (size, count, duration)) in enumerate(places):
        own = found.setdefault((step, name, operator), {})
        if link not in own:
            own[link] = {key: values[row] for key, values in columns.items()}
            own[link]["Size Distribution"] = {}
        if count:
            own[link]["Size Distribution"][repr(size)] = [count, duration]
    return found


def _by_step(
    table: pa.Table, steps: Sequence[str]
) -> Iterator[tuple[str, list[tuple[int, str, str]]]]:
    """Each step with its rows: place, class and key of the operator; those of no class left out."""
    names = dict.fromkeys([*steps, *_texts(table, "step")])
    rows: dict[str, list[tuple[int, str, str]]] = {name: [] for name in names}
    keys = zip(_texts(table, "step"), _texts(table, "type"), _operators(table), strict=True)
    for row, (step, name, operator) in enumerate(keys):
        if name in CLASSES:
            rows[step].append((row, name, operator))
    yield from rows.items()


def _operators(table: pa.Table) -> list[str]:
    """The keys of the operators, ``name@group``."""
    names, groups = _texts(table, "hccl_op_name"), _texts(table, "group_name")
    return [f"{name}@{group}" for name, group in zip(names, groups, strict=True)]


def _numbers(table: pa.Table, columns: Mapping[str, str]) -> dict[str, list[Any]]:
    return {key: table.column(name).fill_null(0).to_pylist() for key, name in columns.items()}


def _texts(table: pa.Table, column: str) -> list[str]:
    texts: list[str] = table.column(column).cast(pa.string()).fill_null("").to_pylist()
    return texts
