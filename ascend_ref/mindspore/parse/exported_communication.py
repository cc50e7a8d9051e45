"""Stub."""

from .run import Run


def write_exported_communication(run: Run) -> None:
    """Nothing."""
