"""Scenarios of one kernel: the documents, their schema and the presets."""

from .load import load, override, parse, to_document, to_yaml, validate
from .model import (
    Capture,
    Conditions,
    DataType,
    Device,
    KernelScenario,
    Mode,
    Operator,
    OperatorKind,
    Tiling,
)
from .preset import preset, preset_names, presets
from .schema import kernel_schema

__all__ = [
    "Capture",
    "Conditions",
    "DataType",
    "Device",
    "KernelScenario",
    "Mode",
    "Operator",
    "OperatorKind",
    "Tiling",
    "kernel_schema",
    "load",
    "override",
    "parse",
    "preset",
    "preset_names",
    "presets",
    "to_document",
    "to_yaml",
    "validate",
]
