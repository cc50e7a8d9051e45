"""What communication groups are for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

INFORMATION: Final = "parallel_group_info"
"""What the framework's metadata calls it."""


def purposes(described: object) -> Mapping[str, str]:
    """Groups by name, as ``tp of 2 ranks``; what is odd in the description is left out."""
    found: dict[str, str] = {}
    for name, group in described.items() if isinstance(described, dict) else ():
        if isinstance(group, dict) and isinstance(group.get("group_name"), str):
            ranks = group.get("global_ranks")
            size = f" of {len(ranks)} ranks" if isinstance(ranks, list) and len(ranks) > 1 else ""
            found[name] = group["group_name"] + size
    return found
