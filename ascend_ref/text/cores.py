"""Sampled counters of the cores: ai_core_utilization, ai_vector_core_utilization (3.6)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import chosen, dictionary, integers, is_one_of, known_reals, reals
from ascend_ref.capture.batch import Reals
from ascend_ref.derive.decimals import python_round
from ascend_ref.derive.matching import groups
from ascend_ref.derive.pmu import memory_bound
from ascend_ref.derive.traffic import means
from ascend_ref.recorded import Recorded
from ascend_spec import text_catalog

from .columns import Columns, device_texts
from .setting import Setting

EVERY_CORE = np.iinfo(np.int64).max
"""Stands for all cores of a device together; their row comes last."""
MEMORY_BOUND = "memory_bound"
BOUND_OF = ("mac_ratio", "vec_ratio", "mte2_ratio")
"""What memory_bound is made of."""


def _utilization(core_type: str, recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """SAMPLE_PMU_SUMMARY of one kind of core: a row for each, then the mean of these rows."""
    table = recorded.table("SAMPLE_PMU_SUMMARY")
    table = table.filter(pa.array(is_one_of(table["coreType"], [core_type])))
    if not len(table):
        return
    devices, cores = integers(table["deviceId"]), integers(table["coreId"])
    first, row = groups(devices, cores)
    device, core = devices[first], cores[first]
    names = dictionary(table["metric"])
    value = reals(table["value"])
    missing = text_catalog().pmu.not_available.get(setting.family, frozenset())
    shown: dict[str, Reals] = {}
    for column in setting.columns():
        if column.metric is not None:
            values = np.full(len(first), np.nan)
            if column.metric not in missing:
                own = is_one_of(names, [column.metric])
                values[row[own]] = python_round(value[own])
            shown[column.name] = values
    if any(column.name == MEMORY_BOUND for column in setting.columns()):
        mac, vec, mte2 = (shown[name] for name in BOUND_OF)
        bound = memory_bound(mac, vec, mte2, setting.engine)
        shown[MEMORY_BOUND] = python_round(bound)
    every = means(np.zeros(len(device)), device).first
    owner = np.append(device, device[every])
    member = np.append(core, np.full(len(every), EVERY_CORE))
    order = np.lexsort((member, owner))
    found, place = np.unique(member, return_inverse=True)
    columns = {
        "Device_id": device_texts(owner[order]),
        "Core ID": chosen(
            ["Average" if one == EVERY_CORE else f"Core{one}" for one in found.tolist()],
            place[order],
        ),
    }
    for name, values in shown.items():
        together = np.append(values, means(values, device).mean)[order]
        columns[name] = known_reals(together)
    yield columns


ai_core_utilization = partial(_utilization, "AIC")
ai_vector_core_utilization = partial(_utilization, "AIV")
