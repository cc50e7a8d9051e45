"""Where and when raw files were taken, and what was collected, as their side files state it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ascend_ref.capture import DeviceFacts, Origin, Switches
from ascend_ref.capture.model import NONE
from ascend_ref.db.display import clip
from ascend_spec import raw_catalog, text_catalog

from ..clocks import LIMIT
from ..context import Context
from ..damage import Damage, Unreadable
from ..moments import MICROSECOND
from .session import Session

_LONGEST = 20
_SHOWN = 40
"""Characters of a value that is no time."""
_BOUNDS = (("start_info", "collectionTimeBegin"), ("end_info", "collectionTimeEnd"))
Level = Literal[0, 1, 2]
_LEVEL_KEYS = ("profLevel", "prof_level")
_LEVELS: Mapping[str, Level] = {
    **{"l0": 0, "l1": 1, "l2": 2},
    **{"level0": 0, "level1": 1, "level2": 2},
}
"""How sample.json spells levels (upstream-msprof StrConstant)."""


def read_origin(session: Session) -> Origin:
    """The machine and the times of a session. Raises :class:`Unreadable` without a start."""
    contexts = [one for one in (session.host, *session.devices.values()) if one is not None]
    start = first_stated(contexts, "start_info", "collectionTimeBegin")
    if start is None:
        names = ", ".join(str(one.folder.path) for one in contexts)
        raise Unreadable(f"{names}: no start_info with collectionTimeBegin, so no time is known")
    end = first_stated(contexts, "end_info", "collectionTimeEnd")
    _state_impossible(session, contexts)
    info: Mapping[str, Any] = contexts[0].side.documents.get("info", {})
    chip = next((one.side.chip for one in contexts if one.side.chip is not None), None)
    return Origin(
        rank=_number(info.get("rank_id"), NONE),
        ranks=0,
        devices=tuple(sorted(session.devices)),
        chip="" if chip is None else raw_catalog().chips[chip].name or "",
        pid=_number(info.get("pid"), 0),
        host_name=str(info.get("hostname", "")),
        host_uid=_number(info.get("hostUid"), 0),
        start=start * MICROSECOND,
        end=None if end is None else end * MICROSECOND,
        facts=_facts(session),
    )


_RUNTIME_KEY, _RUNTIME_LEVEL = "runtimeApi", 2
_RUNTIME = {"on": True, "off": False}
"""Calls of the runtime, which level 2 has where nothing is stated."""


def read_switches(session: Session, shown: Level) -> Switches:
    """What was asked for, as far as the side files state it.

    shown: the level that the records show; it counts where no side file states one.
    """
    contexts = [one for one in (*session.devices.values(), session.host) if one is not None]
    samples = [one.side.documents.get("sample", {}) for one in contexts]
    sample: Mapping[str, Any] = samples[0] if samples else {}
    stated = [_LEVELS.get(str(one.get(key))) for one in samples for key in _LEVEL_KEYS]
    metrics = sample.get("ai_core_metrics") or sample.get("aiv_metrics") or None
    sampled = sample.get("ai_core_profiling_mode") == "sample-based"
    level = next((one for one in stated if one is not None), shown)
    calls = _RUNTIME.get(str(sample.get(_RUNTIME_KEY)))
    return Switches(
        level=level,
        runtime_api=None if calls == (level == _RUNTIME_LEVEL) else calls,
        aic_metrics=_group(str(metrics)) if metrics else None,
        aic_mode="sample-based" if sampled else "task-based",
    )


def _group(name: str) -> str:
    """The group of counters that sample.json calls so, or the name itself where there is none."""
    found = text_catalog().pmu.group(name)
    return name if found is None else found.name


def _facts(session: Session) -> DeviceFacts | None:
    for context in session.devices.values():
        devices = context.side.documents.get("info", {}).get("DeviceInfo")
        if isinstance(devices, list) and devices and isinstance(devices[0], dict):
            one = devices[0]
            return DeviceFacts(
                cube_cores=_number(one.get("ai_core_num"), 0),
                vector_cores=_number(one.get("aiv_num"), 0),
                ai_cpu_cores=_number(one.get("ai_cpu_core_num"), 0),
                frequency=_number(one.get("aic_frequency"), 0),
            )
    return None


def _state_impossible(session: Session, contexts: Sequence[Context]) -> None:
    """Beginnings and ends that can be no time are damage."""
    for one in contexts:
        for document, key in _BOUNDS:
            value = one.side.documents.get(document, {}).get(key)
            if value is not None and first_stated([one], document, key) is None:
                shown = clip(repr(value), _SHOWN)
                kind = f"{one.folder.side}_{document}"
                text = f"{kind}: {key} is {shown}, expected a text of digits, a time in us"
                session.damage.append(Damage(one.folder.path, text, kind=kind))


def first_stated(contexts: Sequence[Context], document: str, key: str) -> int | None:
    """A number of microseconds in the first of the side files that states one that can be."""
    for one in contexts:
        value = one.side.documents.get(document, {}).get(key)
        if isinstance(value, str) and value.isdecimal() and len(value) < _LONGEST:
            time = int(value)
            if time < LIMIT // MICROSECOND:
                return time
    return None


def _number(value: object, other: int) -> int:
    text = str(value)
    digits = text.removeprefix("-")
    return (
        int(text) if digits.isdecimal() and digits.isascii() and len(digits) < _LONGEST else other
    )
