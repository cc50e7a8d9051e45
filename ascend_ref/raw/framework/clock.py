"""By which clock the files of ``FRAMEWORK`` count (upstream-torch-npu ProfilerConfig)."""

from __future__ import annotations

from fractions import Fraction

from ..clocks import LIMIT, Clock, host_clock, monotonic_clock
from ..side import SideFiles, Unknown, frequency_of
from .information import INFORMATION, Information


def framework_clock(information: Information, host: SideFiles | None) -> Clock:
    """The clock of a profile.

    ``host``: the side files of its ``PROF_*``, which count before what profiler_info states. Raises
    :class:`Unknown` naming what is missing.
    """
    if not information.document:
        raise Unknown(f"no {INFORMATION}_*.json states what the adapter counts")
    base = base_time(information) if host is None else host.base
    if information.part("start_info").get("syscnt_enable") is not True:
        return monotonic_clock(base)
    if host is not None:
        found = host.host
        if found.step != 1:
            return found
    counter = _number(information, "start_info", "start_cnt")
    monotonic = _number(information, "start_info", "start_monotonic")
    return host_clock(base, _frequency(information), monotonic, counter, 0)


def base_time(information: Information) -> int:
    """Unix time at which the host's monotonic clock was 0, in ns, as profiler_info states it.

    Raises :class:`Unknown`.
    """
    end = _number(information, "end_info", "collectionTimeEnd")
    return end - _number(information, "end_info", "MonotonicTimeEnd")


def start_time(information: Information) -> int:
    """Unix time at which the profile begins, in ns. Raises :class:`Unknown`."""
    start = base_time(information) + _number(information, "start_info", "start_monotonic")
    if not 0 <= start < LIMIT:
        raise Unknown(f"{INFORMATION}_*.json states a start at {start:,} ns, which no clock shows")
    return start


def end_time(information: Information) -> int | None:
    """Unix time at which the profile ends, in ns; ``None`` after an abnormal end."""
    return information.number("end_info", "collectionTimeEnd")


def _number(information: Information, part: str, key: str) -> int:
    found = information.number(part, key)
    if found is None:
        raise Unknown(f"no {key} in {part} of {INFORMATION}_*.json")
    return found


def _frequency(information: Information) -> Fraction:
    found = frequency_of(information.part("start_info").get("freq"))
    if found is None:
        raise Unknown(f"no freq in start_info of {INFORMATION}_*.json")
    return found
