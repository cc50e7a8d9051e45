"""Which exporter a name or a command stands for."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from .exporters import (
    ClusterAnalysis,
    Exporter,
    Function,
    Msprof,
    MsprofAnalyze,
    Template,
    program_of,
)
from .limits import Limits
from .talking import Talking
from .torch_npu import NoTorchNpu, TorchNpu, analysis_in

JSON_LINES = "jsonl:"
"""Begins the command of a process that speaks the protocol."""
REFERENCE = "reference"
MSPROF_ANALYZE = "msprof-analyze"
MSPROF = "msprof:"
"""Begins the folder of a checkout of msprof."""
CLUSTER = "ranks-to-cluster"
"""The stage at which msprof-analyze is asked for another of its modes."""
TORCH_NPU = "torch-npu:"
"""Begins a wheel of torch_npu, or a folder with it."""
NAMES = (REFERENCE, MSPROF_ANALYZE)


class NoExporter(Exception):
    """What was given is no exporter; the text is one clear line."""


def exporter_of(
    text: str, stage: str, limits: Limits, reference: Callable[[Path, Path], object]
) -> Exporter:
    """The exporter of a name, or of a command. Raises :class:`NoExporter`."""
    if text == REFERENCE:
        return Function(REFERENCE, reference)
    if text == MSPROF_ANALYZE:
        return _msprof_analyze(stage, limits)
    if text.startswith(MSPROF):
        script = Path(text.removeprefix(MSPROF)) / "analysis" / "msprof" / "msprof.py"
        if not script.is_file():
            raise NoExporter(f"{script}: no such file; expected the folder of a checkout of msprof")
        return Msprof(script.absolute(), limits, text)
    if text.startswith(TORCH_NPU):
        return _torch_npu(text, limits)
    command = text.removeprefix(JSON_LINES)
    _require_program(command)
    if command != text:
        return Talking(text, command, stage, limits)
    for mark in ("{in}", "{out}"):
        if mark not in text:
            raise NoExporter(f"{text}: the command has no {mark}; expected {{in}} and {{out}}")
    return Template(text, limits)


def _msprof_analyze(stage: str, limits: Limits) -> Exporter:
    program = program_of(MSPROF_ANALYZE)
    if program is None:
        raise NoExporter(
            f"{MSPROF_ANALYZE} is not installed; expected: pip install {MSPROF_ANALYZE}"
        )
    if stage == CLUSTER:
        return ClusterAnalysis(Path(program), limits)
    return MsprofAnalyze(Path(program), limits)


def _torch_npu(text: str, limits: Limits) -> Exporter:
    try:
        source = analysis_in(Path(text.removeprefix(TORCH_NPU)))
    except NoTorchNpu as problem:
        raise NoExporter(str(problem)) from None
    return TorchNpu(source.absolute(), limits, text)


def _require_program(command: str) -> None:
    try:
        words = shlex.split(command)
    except ValueError as problem:
        raise NoExporter(f"{command}: {problem}; expected a command as in a shell") from None
    if not words:
        raise NoExporter("the exporter is empty; expected a name or a command")
    if program_of(words[0]) is None:
        known = ", ".join(NAMES)
        raise NoExporter(f"{words[0]}: no such exporter or program; expected {known} or a command")
