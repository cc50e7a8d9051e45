"""Which writer of folders ``*_ascend_ms`` a day has."""

from __future__ import annotations

from typing import Final

from ascend_spec import layout_catalog, mindspore_catalog, text_catalog

from ..documents.text import ScenarioError

FIRST: Final = "G5a"
OUTPUT: Final = "mindspore"
"""The first generation of folders, and whose output they are."""


def viewer_on(day: str) -> str:
    """The writer of folders on a day (ISO); on one before there were any, today's."""
    if day >= mindspore_catalog().generations[FIRST].since:
        return text_catalog().writer_on(OUTPUT, day)
    return next(
        one.id for one in text_catalog().writers.values() if one.output == OUTPUT and one.current
    )


def require_database(scenario: str, viewer: str) -> None:
    """Raises :class:`ScenarioError` where a writer is older than the databases of MindSpore."""
    database = layout_catalog().files["mindspore", "database"]
    if not database.is_written_on(text_catalog().writers[viewer].date):
        raise ScenarioError(
            f"{scenario}: MindSpore writes a database since {database.since}; "
            "expected mindspore-text alone for this generation"
        )
