"""The graph engine's profiling in memory.

Documents are read when they are asked for; the packaged ones are validated by the test suite.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from ascend_spec.core import Erratum, Loader

FOLDER = "ge"


class GeCatalog:
    """Every fact about the profiling of the graph engine; ``Spec.ge`` is the loaded one."""

    def __init__(self, documents: Loader) -> None:
        self.documents = documents

    @cached_property
    def errata(self) -> Mapping[str, Erratum]:
        """Errata by id."""
        return self.documents.errata(f"{FOLDER}/errata.yaml")
