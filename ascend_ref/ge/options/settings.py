"""The options that are in effect, each with where it comes from, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ascend_spec import catalog, ge_catalog

from .check import GE_ERROR, Problem, problems_of, read
from .given import WORK_PATH, Decision
from .setting import Setting, setting_of
from .warn import warnings_of

LEVEL_BITS = ("TASK_TIME", "TASK_TIME_L1", "TASK_TIME_L2", "TASK_TIME_L3")
"""Bits of profSwitch, by the level that needs them."""
DATA_FOLDER = "profiling_data"
"""Below ASCEND_WORK_PATH, where the options name no output (ge-profiling 1.3)."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Options in effect, or problems for which they are refused.

    ``options``: every option, in the order of the spec. ``level``: of task_time, ``None`` where it
    is off. ``switches``: collection switches that are on, by the option that turns them on, empty
    for those that always are.
    """

    product: str
    options: Mapping[str, Setting]
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def level(self) -> int | None:
        """The level of task_time; ``None`` where it is off."""
        return level_of(str(self.options["task_time"].value))

    @property
    def switches(self) -> Mapping[str, tuple[str, ...]]:
        """The switches that are on, each with the options that turn it on."""
        found: dict[str, tuple[str, ...]] = dict.fromkeys(ge_catalog().entry.always.switches, ())
        for name, option in ge_catalog().options.items():
            value = self.options[name].value
            for switch in option.switches(value) if value is not None else ():
                found[switch] = (*found.get(switch, ()), name)
        return found

    @property
    def mask(self) -> int:
        """profSwitch as the collector starts the graph engine with it."""
        bits = ge_catalog().switch_bits
        found = 0
        for bit in bits.values():
            values = {name: self.options[name].value for name in bit.set_by}
            is_set = not values or any(values[name] in on for name, on in bit.set_by.items())
            if is_set and (bit.set_with is None or found & bits[bit.set_with].mask):
                found |= bit.mask
        return found


def level_of(task_time: str) -> int | None:
    """The level of a value of task_time; ``None`` where no times of tasks are recorded."""
    bits = ge_catalog().switch_bits
    on = (task_time in bits[bit].set_by["task_time"] for bit in LEVEL_BITS)
    return max((level for level, is_on in enumerate(on) if is_on), default=None)


def settings_of(decision: Decision, product: str) -> Settings:
    """What is in effect on a product where the profiling is on.

    The checks are those of the graph engine and then those of the collector; both stop at the first
    problem, and here all are found. Raises ``KeyError`` for an unknown product.
    """
    chips = catalog().products[product].platforms
    source = decision.source or "default"
    found, problems = read(decision)
    warnings = list(decision.warnings)
    if not problems:
        problems = list(problems_of(found, chips))
    effective = {
        name: setting_of(option, found, source, warnings)
        for name, option in ge_catalog().options.items()
    }
    if not effective["output"].value and decision.work_path:
        path = f"{decision.work_path.rstrip('/')}/{DATA_FOLDER}"
        effective["output"] = Setting("output", path, "environment")
    elif not effective["output"].value and decision.work_path is not None and not problems:
        message = f"output is missing, and {WORK_PATH} is not set; expected one of them"
        problems.append(Problem(GE_ERROR, "output", message))
    if not problems:
        warnings += warnings_of(effective, found, product)
    return Settings(product, effective, tuple(problems), tuple(warnings))
