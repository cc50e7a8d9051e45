"""Scenarios: the documents that describe a simulated run, their schema and the presets."""

from __future__ import annotations

from ..choices import FaultChoice as FaultChoice
from ..choices import HardwareChoice as HardwareChoice
from ..choices import ModelChoice as ModelChoice
from ..choices import Parallelism as Parallelism
from ..choices import Scenario as Scenario
from ..choices import Schedule as Schedule
from ..documents import ScenarioError as ScenarioError
from .kind import RUN as RUN
from .kind import override as override
from .schema import run_schema as run_schema

load, parse, validate = RUN.load, RUN.parse, RUN.validate
to_document, to_yaml = RUN.to_document, RUN.to_yaml
preset, preset_text = RUN.preset, RUN.preset_text
preset_names, presets = RUN.preset_names, RUN.presets
