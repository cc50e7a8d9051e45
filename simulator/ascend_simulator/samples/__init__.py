"""Samplers of the simulated devices and hosts."""

from __future__ import annotations

from .host import record_host_samples
from .record import record_samples
from .traffic import Flow, Traffic

__all__ = ["Flow", "Traffic", "record_host_samples", "record_samples"]
