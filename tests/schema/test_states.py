"""Where the facts of each family stand is known, so that what did not change is not read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ascend_ref.states import FAMILIES
from ascend_ref.states.families import GROUNDS
from ascend_spec import Spec, packaged
from ascend_spec.core import Folder


class Noted(Folder):
    """Notes what is read."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.noted: set[str] = set()

    def read(self, name: str) -> Any:
        self.noted.add(name)
        return super().read(name)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_reads_the_documents_that_it_names(name: str) -> None:
    family, folder = FAMILIES[name], Noted(packaged().folder.root)
    family.elements(Spec(folder), None)
    strange = {
        document
        for document in folder.noted - {GROUNDS}
        if not any(document == one or document.startswith(f"{one}/") for one in family.documents)
    }
    assert strange == set()
