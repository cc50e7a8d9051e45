"""Names as they stand in profiles: a provider for Faker, and the names of a simulated run."""

from __future__ import annotations

from .provider import AscendProvider as AscendProvider
from .provider import RunNames as RunNames
from .provider import run_names as run_names
