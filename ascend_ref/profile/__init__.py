"""Profiles on disk: folders, databases and JSON files as the exporters leave them."""

from __future__ import annotations

from .write import write_msprof_profile, write_pytorch_profile

__all__ = ["write_msprof_profile", "write_pytorch_profile"]
