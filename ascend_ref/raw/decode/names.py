"""What is lost where a dictionary of the host is missing or lacks entries (raw-prof 6.2)."""

from __future__ import annotations

from ..damage import Damage
from ..dictionaries import TEXTS, TYPES
from .session import Session

_NAMED = ("api_event", "task_track")
"""Files whose records have types, which the host's dictionary of types names."""


def state_unnamed(session: Session) -> None:
    """State which names are not known; numbers stand in their place."""
    host = session.host
    if host is None:
        return
    if session.unnamed:
        text = f"{TEXTS}: {len(session.unnamed):,} texts are not in it, so they stay numbers"
        session.damage.append(Damage(host.folder.path, text, kind=TEXTS))
    if TYPES not in host.folder.files and not host.folder.files.keys().isdisjoint(_NAMED):
        text = f"{TYPES} is missing, so types that the spec does not name stay numbers"
        session.damage.append(Damage(host.folder.path, text, kind=TYPES))
