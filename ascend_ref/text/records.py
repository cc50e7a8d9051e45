"""Files of records that no database has (text-outputs.md 3.2, 3.3, 3.5)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ascend_ref.derive.decimals import python_round
from ascend_ref.derive.l2_cache import cache_rates
from ascend_ref.derive.traffic import share
from ascend_ref.recorded import Recorded
from ascend_spec import catalog

from .columns import HOST, Columns, devices, dictionary, integers, plain, reals, same, where
from .memory import kibibytes
from .order import ordered
from .setting import Setting


def l2_cache(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """Shares of the requests of each kernel; with STARS there is no hit rate (erratum T10)."""
    without_hits = catalog().products[setting.family].can("stars")
    table = recorded.extras["l2_cache"]
    request = integers(table["request"])
    hits = pa.array(cache_rates(integers(table["hit"]), request))
    yield ordered(
        setting,
        {
            **_task(table, "Device_id"),
            "Hit Rate": pa.nulls(len(table)) if without_hits else hits,
            "Victim Rate": pa.array(cache_rates(integers(table["victim"]), request)),
        },
    )


def soc_pmu(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """Shares of the translations of each kernel."""
    table = recorded.extras["soc_pmu"]
    request = integers(table["request"])
    yield ordered(
        setting,
        {
            **_task(table, "Device_id"),
            "TLB Hit Rate": pa.array(cache_rates(integers(table["hit"]), request)),
            "TLB Miss Rate": pa.array(cache_rates(integers(table["miss"]), request)),
        },
    )


def page_fault(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """Page faults of each kernel."""
    table = recorded.extras["page_fault"]
    faults = plain(table["faults"])
    yield ordered(setting, {**_task(table, "Device Id"), "Page Fault Num": faults})


def aicpu(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """Runs of AI CPU kernels that ended in the session."""
    table = recorded.extras["aicpu"]
    ended = integers(table["time"]) + integers(table["task"]) >= recorded.origin.start
    table = table.filter(pa.array(ended))
    yield ordered(
        setting,
        {
            "Device_id": devices(table["device"]),
            "Timestamp(us)": plain(table["time"]),
            "Node": plain(table["name"]),
            "Compute_time(us)": plain(table["compute"]),
            "Memcpy_time(us)": plain(table["memcpy"]),
            "Task_time(us)": plain(table["task"]),
            "Dispatch_time(us)": plain(table["dispatch"]),
            "Total_time(us)": plain(table["total"]),
            "Stream ID": plain(table["stream"]),
            "Task ID": plain(table["number"]),
        },
    )


def aicpu_mi(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """Batches taken from the queue of data."""
    table = recorded.extras["aicpu_mi"]
    yield ordered(
        setting,
        {
            "Device_id": devices(table["device"]),
            "Node Name": plain(table["name"]),
            "Start Time(us)": plain(table["start"]),
            "End Time(us)": plain(table["end"]),
            "Queue Size": plain(table["size"]),
        },
    )


def dp(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """Events of the preparation of data."""
    table = recorded.extras["dp"]
    yield ordered(
        setting,
        {
            "Device_id": devices(table["device"]),
            "Timestamp(us)": plain(table["time"]),
            "Action": plain(table["action"]),
            "Source": plain(table["source"]),
            "Cached Buffer Size": plain(table["buffered"]),
        },
    )


def dvpp(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """Load of each engine."""
    table = recorded.extras["dvpp"]
    busy, observed = reals(table["busy"]), reals(table["observed"])
    yield ordered(
        setting,
        {
            "Device_id": devices(table["device"]),
            "Dvpp Id": plain(table["group"]),
            "Engine Type": plain(table["type"]),
            "Engine ID": plain(table["engine"]),
            "All Time(us)": plain(table["busy"]),
            "All Frame": plain(table["frames"]),
            "All Utilization(%)": pa.array(python_round(share(busy, observed))),
        },
    )


def fusion_op(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """Operators that were made of others."""
    table = recorded.extras["fusion_op"]
    parts = ("input", "output", "weight", "workspace")
    total = np.sum([integers(table[name]) for name in parts], axis=0)
    yield ordered(
        setting,
        {
            "Device_id": same(HOST, len(table)),
            "Model Name": plain(table["model_name"]),
            "Model ID": plain(table["model"]),
            "Fusion Op": plain(table["name"]),
            "Original Ops": plain(table["originals"]),
            **{f"Memory {name.capitalize()}(KB)": kibibytes(table[name]) for name in parts},
            "Memory Total(KB)": kibibytes(pa.array(total)),
        },
    )


def static_op_mem(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """Memory that a compiled graph plans."""
    table = recorded.extras["static_op_mem"]
    end = integers(table["end"])
    yield ordered(
        setting,
        {
            "Device_id": same(HOST, len(table)),
            "Op Name": plain(table["name"]),
            "Model Name": plain(table["model_name"]),
            "Graph ID": plain(table["graph"]),
            "Node Index Start": plain(table["start"]),
            "Node Index End": where(end >= 0, end),
            "Size(KB)": kibibytes(table["size"]),
        },
    )


def _task(table: pa.Table, device: str) -> Columns:
    """The task that a row tells of."""
    return {
        device: devices(table["device"]),
        "Stream Id": plain(table["stream"]),
        "Task Id": plain(table["number"]),
        "Op Name": dictionary(table["name"]),
    }
