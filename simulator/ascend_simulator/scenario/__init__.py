"""Scenarios: the documents that describe a simulated run, their schema and the presets."""

from __future__ import annotations

from .errors import ScenarioError
from .load import load, override, parse, to_document, to_yaml, validate
from .model import (
    FaultChoice,
    HardwareChoice,
    ModelChoice,
    Parallelism,
    Scenario,
    Schedule,
)
from .preset import preset, preset_names, presets
from .schema import scenario_schema

__all__ = [
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
    "presets",
    "scenario_schema",
    "to_document",
    "to_yaml",
    "validate",
]
