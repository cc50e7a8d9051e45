"""Timelines in the trace event format: ``msprof_*.json``, ``trace_view.json`` and relatives."""

from __future__ import annotations

from .write import write_timeline as write_timeline
