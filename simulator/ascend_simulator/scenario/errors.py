"""The one way in which a scenario can be wrong."""

from __future__ import annotations


class ScenarioError(Exception):
    """A document that describes no possible scenario; the text is one clear line."""
