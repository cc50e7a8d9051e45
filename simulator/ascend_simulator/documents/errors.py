"""The one way in which a scenario can be wrong."""

from __future__ import annotations

from ascend_ref.cli.guard import one_line


class ScenarioError(Exception):
    """A document that describes no possible scenario; the text is one clear line."""

    def __init__(self, text: str) -> None:
        """The text may quote the document: it is shortened and made safe to print."""
        super().__init__(one_line(text))
