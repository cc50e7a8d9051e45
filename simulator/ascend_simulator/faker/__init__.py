"""Names as they stand in profiles: a provider for Faker, and the names of a simulated run."""

from __future__ import annotations

from .provider import AscendProvider, Operator, RunNames, run_names

__all__ = ["AscendProvider", "Operator", "RunNames", "run_names"]
