"""Samplers of the simulated devices and hosts."""

from __future__ import annotations

from .host import record_host_samples as record_host_samples
from .record import record_samples as record_samples
from .traffic import Flow as Flow
from .traffic import Traffic as Traffic
