"""Builders of records: what the run leaves that only text deliverables show."""

from __future__ import annotations

from .record import records_of as records_of
from .scene import RecordScene as RecordScene
