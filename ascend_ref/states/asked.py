"""A state as an argument of the command line."""

from __future__ import annotations

from ascend_ref.cli.options import Known

from .target import targets, versions

STATE = Known("state", targets, versions)
"""A revision, or the newest one of a SCHEMA_VERSION; a writer of texts; an epoch of blocks."""
