"""Whether the profiling is on, and by whose options, as the graph engine decides it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ascend_ref.cli.suggest import close_to
from ascend_spec import ge_catalog

Source = Literal["option", "environment", "built-in", "default"]
"""Where a value comes from: an option of the graph engine, the environment, the options that the
graph engine has built in for the environment, or what an option is without any value."""

MODE, OPTIONS, WORK_PATH = "PROFILING_MODE", "PROFILING_OPTIONS", "ASCEND_WORK_PATH"


@dataclass(frozen=True, slots=True)
class Given:
    """What a program and its environment say.

    ``mode``, ``options``, ``job``: options of the graph engine, ``None`` where one is missing.
    Texts of the environment hold bytes that are no UTF-8 as Python does (surrogateescape).
    """

    mode: str | None = None
    options: str | None = None
    environment: Mapping[str, str] | None = None
    job: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether the profiling is on.

    ``text``: the options as they are taken, cut off where they are too long; ``bytes_given``:
    before that. ``why``: in words. ``work_path``: ASCEND_WORK_PATH, empty where it is not set,
    ``None`` where the environment is not known. ``warnings``: a sentence each.
    """

    on: bool
    why: str
    source: Source | None = None
    text: bytes = b""
    bytes_given: int = 0
    work_path: str | None = None
    warnings: tuple[str, ...] = ()


def decide(given: Given) -> Decision:
    """Whether the profiling is on when the graph engine begins, and by whose options.

    Options of the graph engine count as a pair; there is no merge of single keys
    (ge-profiling 1.1).
    """
    entry = ge_catalog().entry
    mode, options = given.mode or "", given.options or ""
    environment = given.environment or {}
    warnings = tuple(_wrong_names(environment))
    work = None if given.environment is None else given.environment.get(WORK_PATH, "")

    def on(source: Source, why: str, text: str) -> Decision:
        content = text.encode("utf-8", "surrogateescape").partition(b"\0")[0]
        kept = content[: entry.longest]
        return Decision(True, why, source, kept, len(content), work, warnings)

    if mode == entry.mode.on and options:
        return on("option", f"{entry.mode.key} is {mode}", options)
    if environment.get(MODE) == ge_catalog().environment[MODE].value:
        why = f"{MODE} is {environment[MODE]}"
        if text := environment.get(OPTIONS):
            return on("environment", why, text)
        return on("built-in", f"{why}, {OPTIONS} are not set", json.dumps(entry.built_in))
    return Decision(False, _why_off(mode, options, environment), warnings=warnings)


def _why_off(mode: str, options: str, environment: Mapping[str, str]) -> str:
    entry = ge_catalog().entry
    if mode == entry.mode.on:
        first = f"{entry.mode.key} is {mode} and {entry.options.key} are empty"
    elif mode:
        first = f"{entry.mode.key} is not {entry.mode.on}"
    else:
        first = f"{entry.mode.key} is not set"
    value = environment.get(MODE)
    second = f"{MODE} is not set" if value is None else f"{MODE} is not true"
    return f"{first}, and {second}"


def _wrong_names(environment: Mapping[str, str]) -> list[str]:
    known = ge_catalog().environment
    found = []
    for name in environment:
        variable = known.get(name)
        if variable is not None and variable.instead_of_wrong is not None:
            found.append(f"nothing reads {name}; {variable.instead_of_wrong} is meant")
        elif variable is None and "PROFILING" in name.upper():
            close = close_to(name, (MODE, OPTIONS), 1)
            if close:
                found.append(f"nothing of the graph engine reads {name}; {close[0]} is like it")
    return found
