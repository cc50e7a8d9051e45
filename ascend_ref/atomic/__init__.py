"""Files and folders that appear whole or not at all."""

from __future__ import annotations

from .file import atomic_file, write_atomically
from .folder import staged

__all__ = ["atomic_file", "staged", "write_atomically"]
