"""Calls of the functions of ``ge/ge_prof.h``. Configurations have numbers in place of pointers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Init:
    """``aclgrphProfInit``; ``path`` is ``None`` for a null pointer."""

    path: str | None
    length: int
    function: ClassVar[str] = "aclgrphProfInit"

    @property
    def words(self) -> str:
        """The call as it is written."""
        return f"{self.function}({_text(self.path)}, {self.length})"


@dataclass(frozen=True, slots=True)
class CreateConfig:
    """``aclgrphProfCreateConfig``, which makes the configuration with the number ``config``.

    ``devices`` is ``None`` for a null pointer, and has no fewer than ``device_nums`` items;
    ``types`` are the bits.
    """

    config: int
    devices: tuple[int, ...] | None
    device_nums: int
    metrics: int
    types: int
    function: ClassVar[str] = "aclgrphProfCreateConfig"

    @property
    def words(self) -> str:
        """The call as it is written."""
        listed = "null" if self.devices is None else _list(self.devices)
        given = f"{listed}, {self.device_nums}, {self.metrics}, null, {self.types:#x}"
        return f"config {self.config} = {self.function}({given})"


@dataclass(frozen=True, slots=True)
class _OfConfiguration:
    config: int
    function: ClassVar[str]

    @property
    def words(self) -> str:
        """The call as it is written."""
        return f"{self.function}(config {self.config})"


@dataclass(frozen=True, slots=True)
class Start(_OfConfiguration):
    """``aclgrphProfStart``."""

    function: ClassVar[str] = "aclgrphProfStart"


@dataclass(frozen=True, slots=True)
class Stop(_OfConfiguration):
    """``aclgrphProfStop``."""

    function: ClassVar[str] = "aclgrphProfStop"


@dataclass(frozen=True, slots=True)
class Finalize:
    """``aclgrphProfFinalize``."""

    function: ClassVar[str] = "aclgrphProfFinalize"

    @property
    def words(self) -> str:
        """The call as it is written."""
        return f"{self.function}()"


@dataclass(frozen=True, slots=True)
class DestroyConfig:
    """``aclgrphProfDestroyConfig``; ``config`` is ``None`` for a null pointer."""

    config: int | None
    function: ClassVar[str] = "aclgrphProfDestroyConfig"

    @property
    def words(self) -> str:
        """The call as it is written."""
        given = "null" if self.config is None else f"config {self.config}"
        return f"{self.function}({given})"


Call = Init | CreateConfig | Start | Stop | Finalize | DestroyConfig

SHOWN = 40
"""Characters of a path, and devices of a list, that are shown."""


def _text(path: str | None) -> str:
    if path is None:
        return "null"
    shown = path if len(path) <= SHOWN else f"{path[:SHOWN]}…"
    return json.dumps(shown, ensure_ascii=not shown.isprintable())


def _list(devices: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, devices[:SHOWN]))
    return f"[{shown}{', …' if len(devices) > SHOWN else ''}]"
