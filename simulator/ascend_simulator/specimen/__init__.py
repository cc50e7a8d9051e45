"""Specimens: small, deterministic, self-consistent profiles with rows in every table.

A specimen is a museum piece, not a simulation: each table, each kind of row and each sentinel
appears a few times, and every invariant of the formats holds. The checker's demo, its self-test
and the property tests are built on it.
"""

from __future__ import annotations

from .folder import build as build
from .folder import write_msprof_folder as write_msprof_folder
from .folder import write_rank_folder as write_rank_folder
from .folder import write_specimen as write_specimen
from .shape import Shape as Shape
