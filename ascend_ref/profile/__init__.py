"""Profiles on disk: folders, databases and JSON files as the exporters leave them."""

from __future__ import annotations

from .write import write_msprof_profile as write_msprof_profile
from .write import write_pytorch_profile as write_pytorch_profile
