"""Scenarios of one kernel: the documents, their schema and the presets."""

from __future__ import annotations

from ..choices import KernelScenario as KernelScenario
from .kind import KERNEL as KERNEL
from .kind import kernel_schema as kernel_schema
from .kind import override as override

load, parse, validate = KERNEL.load, KERNEL.parse, KERNEL.validate
to_document, to_yaml = KERNEL.to_document, KERNEL.to_yaml
preset, preset_names, presets = KERNEL.preset, KERNEL.preset_names, KERNEL.presets
