"""Files of blocks of one epoch as those of another."""

from __future__ import annotations

from pathlib import Path

from .account import Migrated
from .refusal import Refusal


def migrate_blocks(source: Path, epoch: str, target: Path) -> Migrated:
    raise Refusal("a file of blocks, and such files are not converted")
