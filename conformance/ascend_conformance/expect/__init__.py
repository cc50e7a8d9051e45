"""What the owner of a recording expects of it: a document, or a preset, that ``check`` answers."""

from __future__ import annotations

from importlib.resources import files


def presets() -> list[str]:
    """The names of all presets; none of them is read."""
    names = (entry.name for entry in (files(__package__) / "presets").iterdir())
    return sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))
