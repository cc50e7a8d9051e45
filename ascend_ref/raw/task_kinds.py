"""What tasks are called: by the runtime that launches them, and by the schedulers that run them."""

from __future__ import annotations

from collections.abc import Mapping

from ascend_spec import raw_catalog

from .vocabulary import named, numbered

FFTS_PLUS = "FFTS_PLUS"
"""What the runtime calls a task of sub-tasks; exporters show what the scheduler calls it."""

FLIP = "FLIP_TASK"
"""Task that the runtime issues where the numbers of a stream begin again."""

PLACE_HOLDER = "PLACE_HOLDER_SQE"

_ENTRIES: Mapping[str, str] = {
    "KERNEL_AICORE": "AI_CORE",
    "KERNEL_AIVEC": "AI_CORE",
    "KERNEL_AICPU": "AI_CPU",
    "MEMCPY_ASYNC": "SDMA_SQE",
    "REDUCE_ASYNC_V2": "SDMA_SQE",
    "EVENT_RECORD": "EVENT_RECORD_SQE",
    "EVENT_WAIT": "EVENT_WAIT_SQE",
    "NOTIFY_RECORD": "NOTIFY_RECORD_SQE",
    "NOTIFY_WAIT": "NOTIFY_WAIT_SQE",
    "WriteValueTask": "WRITE_VALUE_SQE",
    "STARS_COMMON": "DSA_SQE",
}
"""Entries of the scheduler's queue by what the runtime calls a task, as far as raw-prof 6.1 shows
them; those of the others are not known, and no exporter shows them."""

_ENTRIES_OF: Mapping[str, Mapping[str, str]] = {
    "stars-v6": {
        "KERNEL_AIVEC": "AIV_SQE",
        "KERNEL_AICPU": "AICPU_D",
        "KERNEL_MIX_AIC": "AI_CORE",
        "KERNEL_MIX_AIV": "AIV_SQE",
    }
}
"""Those that differ by what logs the tasks; inferred from the names of the entries."""

_SETS = {"stars": "sqe_types_stars", "stars-v6": "sqe_types_v6", "hwts": "sqe_types_hwts"}


def has_whole_numbers(chip: int | None) -> bool:
    """Whether tasks have numbers of 32 bits, alone over all streams of a device (raw-prof 4.2)."""
    return chip is not None and raw_catalog().chips[chip].tasks == "stars-v6"


def entries_of(chip: int) -> str:
    """The set of the entries of a chip's scheduler; ``KeyError`` where the spec has none."""
    return _SETS[raw_catalog().chips[chip].tasks]


def is_of_device(name: str, chip: int) -> bool:
    """Whether a task is called by what the scheduler calls it, so that the host had no name."""
    of_runtime = name in numbered("runtime_task_types")
    return not of_runtime and (name in numbered("sub_tasks") or name in numbered(entries_of(chip)))


def entry(name: str, chip: int) -> int:
    """The number of the entry that runs a task of the runtime's or the scheduler's name."""
    known = numbered(entries_of(chip))
    own = _ENTRIES_OF.get(raw_catalog().chips[chip].tasks, {})
    return known.get(own.get(name, _ENTRIES.get(name, name)), known[PLACE_HOLDER])


def entry_name(number: int, chip: int) -> str:
    """What exporters call an entry of the scheduler."""
    return named(entries_of(chip)).get(number, str(number))


def sub_task_name(number: int) -> str:
    """What exporters call a sub-task of FFTS+."""
    return named("sub_tasks").get(number, str(number))
