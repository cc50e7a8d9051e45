"""What the adapter states of a profile next to its folders: profiler_info and profiler_metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from ascend_ref.capture import Switches
from ascend_ref.capture.metric_groups import aic_metrics
from ascend_ref.capture.model import NONE
from ascend_spec import layout_catalog

from ..clocks import LIMIT
from ..damage import Damage
from ..side import NO_JSON, read_json, read_small

INFORMATION, METADATA = "profiler_info", "profiler_metadata"
_HOST_SAMPLERS: Mapping[str, Literal["cpu", "mem", "disk", "network", "osrt"]] = {
    "cpu": "cpu",
    "mem": "mem",
    "disk": "disk",
    "network": "network",
    "osrt": "osrt",
}
_LEVELS: Mapping[str, Literal[0, 1, 2]] = {"Level0": 0, "Level1": 1, "Level2": 2, "Level_none": 0}


@dataclass(frozen=True)
class Information:
    """What stands next to ``FRAMEWORK`` and ``PROF_*``.

    ``path``: of profiler_info, ``None`` where there is none. ``document``: what it holds.
    ``metadata``: what the program reported about itself.
    """

    profile: Path
    path: Path | None
    document: Mapping[str, Any]
    metadata: Mapping[str, Any]
    damage: list[Damage] = field(default_factory=list)

    @property
    def rank(self) -> int:
        """The rank; NONE where it is not known."""
        rank = self.document.get("rank_id", NONE)
        text = str(rank)
        return int(text) if text.isdecimal() and text.isascii() and len(text) < 10 else NONE

    def part(self, *keys: str) -> Mapping[str, Any]:
        """A part of the document; empty where there is none."""
        found: Any = self.document
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else {}

    def number(self, part: str, key: str) -> int | None:
        """A count of a clock; ``None`` where it is none."""
        value = self.part(part).get(key)
        right = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LIMIT
        return value if right else None

    def switches(self, of_device: Switches) -> Switches:
        """What was asked for; ``of_device``: as far as CANN's files show it."""
        common = self.part("config", "common_config")
        options = self.part("config", "experimental_config")
        if not options and not common:
            return of_device
        names = {name: group for group, name in aic_metrics().items()}
        activities = _texts(common.get("activities"))
        level = _LEVELS.get(str(options.get("_profiler_level")), of_device.level)
        return replace(
            of_device,
            level=level,
            cpu="ProfilerActivity.CPU" in activities,
            npu="ProfilerActivity.NPU" in activities,
            aic_metrics=names.get(str(options.get("_aic_metrics")), of_device.aic_metrics),
            memory=common.get("profile_memory") is True,
            stack=common.get("with_stack") is True,
            record_shapes=common.get("record_shapes") is True,
            mstx=options.get("_mstx") is True or options.get("_msprof_tx") is True,
            l2=options.get("_l2_cache") is True,
            gc=options.get("_gc_detect_threshold") is not None,
            sys_io=int(options.get("_sys_io", of_device.sys_io > 0) is True),
            sys_interconnection=int(
                options.get("_sys_interconnection", of_device.sys_interconnection > 0) is True
            ),
            host_sys=tuple(
                _HOST_SAMPLERS[one]
                for one in _texts(options.get("_host_sys"))
                if one in _HOST_SAMPLERS
            ),
        )


def _texts(value: object) -> Sequence[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def read_information(profile: Path, damage: list[Damage]) -> Information:
    """The documents of a profile. What is missing or no object is damage."""
    path = _only(profile, INFORMATION, damage)
    if path is None:
        damage.append(Damage(profile, "profiler_info_*.json is missing"))
    document = {} if path is None else _object(path, damage)
    about = _only(profile, METADATA, damage)
    metadata = {} if about is None else _object(about, damage)
    return Information(profile, path, document, metadata, damage)


def has_information(profile: Path) -> bool:
    """Whether a profiler_info lies in a folder."""
    return bool(_named(profile, INFORMATION))


def copy_information(profile: Path, target: Path) -> None:
    """Copy the documents of a profile to a folder, those that :func:`read_information` reads."""
    for kind in (INFORMATION, METADATA):
        path = _only(profile, kind, [])
        content = None if path is None else read_small(path, [])
        if path is not None and content is not None:
            (target / path.name).write_bytes(content)


def _named(profile: Path, kind: str) -> list[Path]:
    file = layout_catalog().files["pytorch", kind]
    try:
        names = sorted(profile.iterdir())
    except OSError:
        return []
    return [
        one
        for one in names
        if any(form.fits(one.name) for form in file.forms)
        and one.is_file()
        and not one.is_symlink()
    ]


def _only(profile: Path, kind: str, damage: list[Damage]) -> Path | None:
    found = _named(profile, kind)
    if len(found) > 1:
        names = ", ".join(one.name for one in found)
        damage.append(Damage(profile, f"one file is expected of {names}"))
    return found[0] if found else None


def _object(path: Path, damage: list[Damage]) -> Mapping[str, Any]:
    found = read_json(path, damage)
    if isinstance(found, dict):
        return found
    if found is not NO_JSON:
        damage.append(Damage(path, "no object; expected one of options"))
    return {}
