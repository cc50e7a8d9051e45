"""Scenarios of one kernel: the documents, their schema and the presets."""

from __future__ import annotations

from ..choices import KernelScenario
from .kind import KERNEL, kernel_schema, override

load, parse, validate = KERNEL.load, KERNEL.parse, KERNEL.validate
to_document, to_yaml = KERNEL.to_document, KERNEL.to_yaml
preset, preset_names, presets = KERNEL.preset, KERNEL.preset_names, KERNEL.presets

__all__ = ["KERNEL", "KernelScenario", "kernel_schema", "override"]
