"""Scenarios: the documents that describe a simulated run, their schema and the presets."""

from __future__ import annotations

from ..choices import (
    FaultChoice,
    HardwareChoice,
    ModelChoice,
    Parallelism,
    Scenario,
    Schedule,
)
from ..documents import ScenarioError
from .kind import RUN, override
from .schema import run_schema

load, parse, validate = RUN.load, RUN.parse, RUN.validate
to_document, to_yaml = RUN.to_document, RUN.to_yaml
preset, preset_text = RUN.preset, RUN.preset_text
preset_names, presets = RUN.preset_names, RUN.presets

__all__ = [
    "RUN",
    "FaultChoice",
    "HardwareChoice",
    "ModelChoice",
    "Parallelism",
    "Scenario",
    "ScenarioError",
    "Schedule",
    "load",
    "override",
    "parse",
    "preset",
    "preset_names",
    "preset_text",
    "presets",
    "run_schema",
    "to_document",
    "to_yaml",
    "validate",
]
