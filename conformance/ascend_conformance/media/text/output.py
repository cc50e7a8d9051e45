"""What is judged together: the text files of one folder, or one file alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ascend_ref.db.carrier import carrier_of_name

from ...engine.candidate import Candidate, Listing
from .deliverables import Deliverable, beside, deliverable_of_content, deliverables_of


@dataclass(frozen=True, slots=True)
class Output:
    """The text files of a folder, or one that was given ``alone``, and the database beside them."""

    deliverables: tuple[Deliverable, ...]
    alone: bool = False
    database: Path | None = None

    def anywhere(self) -> Output:
        """The same, with paths that do not depend on the working directory."""
        return replace(
            self,
            deliverables=tuple(one.anywhere() for one in self.deliverables),
            database=self.database and self.database.absolute(),
        )

    def candidate(self, path: Path) -> Candidate:
        """The output as a candidate to judge."""
        files = tuple(one.path for one in self.deliverables)
        return Candidate("text", path, files=files, details=self, absolute=Output.anywhere)


def output_of_folder(listing: Listing) -> Iterator[Candidate]:
    """The text files of a folder, if it has any."""
    texts = deliverables_of(listing.paths)
    if texts:
        every = (*texts, *beside(listing.folder))
        yield Output(every, database=_database(listing)).candidate(listing.folder)


def output_of_file(path: Path) -> Candidate | None:
    """A single file by its content."""
    text = deliverable_of_content(path)
    return None if text is None else Output((text,), alone=True).candidate(path)


def _database(listing: Listing) -> Path | None:
    """The profiler's database in a folder or, of msprof, one above it; the last by its name."""
    for carrier in ("pytorch", "msprof"):
        for place in (listing, listing.above):
            named = [one for one in place.paths if carrier_of_name(one.name)[0] == carrier]
            found = next((one for one in reversed(named) if one.is_file()), None)
            if found is not None:
                return found
    return None
