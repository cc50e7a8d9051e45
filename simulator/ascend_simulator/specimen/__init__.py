"""Specimens: small, deterministic, self-consistent profiles with rows in every table.

A specimen is a museum piece, not a simulation: each table, each kind of row and each sentinel
appears a few times, and every invariant of the formats holds. The checker's demo, its self-test
and the property tests are built on it.
"""

from __future__ import annotations

from .folder import build, write_msprof_folder, write_rank_folder
from .shape import Shape

__all__ = ["Shape", "build", "write_msprof_folder", "write_rank_folder"]
