"""Files and folders that appear whole or not at all."""

from __future__ import annotations

from .drafts import Drafts, Naming
from .file import atomic_file, write_atomically
from .folder import staged

__all__ = ["Drafts", "Naming", "atomic_file", "staged", "write_atomically"]
