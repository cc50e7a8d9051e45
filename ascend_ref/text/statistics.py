"""Statistics of calls, operators and communication (text-outputs.md 7.1, 7.2, 7.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.arrays import dictionary, integers, is_one_of, renamed, text_numbers
from ascend_ref.capture.batch import Integers
from ascend_ref.derive.matching import groups
from ascend_ref.derive.statistics import api_statistic as of_apis
from ascend_ref.derive.statistics import (
    communication_statistic,
    operator_statistic,
)
from ascend_ref.recorded import Recorded
from ascend_spec import catalog, per_spec
from ascend_spec.core import DAYS

from .columns import Columns, device_texts, of_formula, taken
from .kernels import (
    COMMUNICATION_TYPES,
    DESCRIPTIONS,
    IGNORED_TYPES,
    RUNS,
    SCHEDULING_TYPE,
    UNKNOWN,
    kernels,
    operator_devices,
)
from .order import ordered
from .setting import Setting

STATISTICS = {
    "operator_statistic": operator_statistic,
    "communication_statistic": communication_statistic,
}
"""By the formulas of the columns that show their figures."""


def api_statistic(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """CANN_API by level and name. The C++ engine leaves out calls before the session."""
    table = recorded.table("CANN_API", ("startNs", "endNs", "type", "name"))
    start, end = integers(table["startNs"]), integers(table["endNs"])
    rows = np.arange(len(table))
    if setting.engine == "cpp":
        rows = np.flatnonzero(end >= recorded.origin.start)
    level = renamed(table["type"], level_names(setting.writer.date)).take(pa.array(rows))
    name = dictionary(table["name"]).take(pa.array(rows))
    first, owner = groups(text_numbers(level), text_numbers(name))
    if not len(first):
        return
    found = of_apis(owner, (end - start)[rows], setting.engine)
    chosen = pa.array(first)
    yield ordered(
        setting,
        {
            "Level": level.take(chosen),
            "API Name": name.take(chosen),
            **of_formula(setting, "api_statistic", asdict(found).values()),
        },
    )


def op_statistic(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """Compute tasks by type of operator and of core, those that started in the session."""
    details = recorded.table("COMPUTE_TASK_INFO", (*DESCRIPTIONS, "opType"))
    found = kernels(recorded.table("TASK", RUNS), details)
    op_type, core = found.texts("opType"), found.texts("taskType")
    left_out = is_one_of(core, [*COMMUNICATION_TYPES, SCHEDULING_TYPE])
    kept = (found.start >= recorded.origin.start) & ~left_out
    rows = np.flatnonzero(kept)
    shown = ~(is_one_of(op_type, [UNKNOWN]) | is_one_of(core, IGNORED_TYPES))
    yield from _by_device(
        setting,
        found.device[rows],
        {"OP Type": op_type.take(pa.array(rows)), "Core Type": core.take(pa.array(rows))},
        (found.end - found.start)[rows],
        shown[rows],
        "operator_statistic",
    )


def communication(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """Communication operators by type, those that started in the session.

    None at level 0, which does not know the types.
    """
    table = recorded.table("COMMUNICATION_OP", ("startNs", "endNs", "opType", "deviceId"))
    start, end = integers(table["startNs"]), integers(table["endNs"])
    rows = np.flatnonzero(start >= recorded.origin.start)
    op_type = dictionary(table["opType"])
    yield from _by_device(
        setting,
        operator_devices(recorded, table)[rows],
        {"OP Type": op_type.take(pa.array(rows))},
        (end - start)[rows],
        ~is_one_of(op_type, [UNKNOWN])[rows],
        "communication_statistic",
    )


def _by_device(
    setting: Setting,
    device: Integers,
    kinds: Mapping[str, pa.DictionaryArray],
    duration: Integers,
    shown: npt.NDArray[np.bool_],
    formula: str,
) -> Iterator[Columns]:
    """The figures of the kinds on each device; those not ``shown`` count in the ratios alone."""
    if not len(device):
        return
    first, owner = groups(device, *map(text_numbers, kinds.values()))
    found = STATISTICS[formula](owner, duration, setting.engine, device[first])
    columns = {
        "Device_id": device_texts(device[first]),
        **{name: column.take(pa.array(first)) for name, column in kinds.items()},
        **of_formula(setting, formula, asdict(found).values()),
    }
    yield ordered(setting, taken(columns, np.flatnonzero(shown[first])))


@per_spec
def level_names(date: str) -> Mapping[str, str]:
    """Every name of a level of calls to the one that was in use on a day (erratum T3)."""
    members = catalog().enums["ENUM_API_TYPE"].members
    current = {one.id: one.name for one in members if DAYS.in_force(one, date)}
    return {one.name: current.get(one.id, one.name) for one in members}
