"""The rank folders of a profile without databases, and their files as the standard library reads
them.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from consumer_ranks import OUTPUT, group_hash

INFORMATION = re.compile(r"profiler_info_(\d+)\.json")
METADATA = "profiler_metadata.json"


@dataclass(frozen=True, order=True)
class TextRank:
    """One rank of a profile."""

    number: int
    folder: Path

    @property
    def output(self) -> Path:
        return self.folder / OUTPUT

    def rows(self, name: str) -> list[dict[str, str]]:
        """The rows of a CSV file by its columns, with the tab that follows instants."""
        with (self.output / name).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def document(self, name: str) -> Any:
        """A JSON file."""
        return json.loads((self.output / name).read_text(encoding="utf-8"))

    def metadata(self, name: str) -> Any:
        """What the program said about itself, None where it did not."""
        path = self.folder / METADATA
        return json.loads(path.read_text()).get(name) if path.is_file() else None


def text_ranks_of(profile: Path) -> list[TextRank]:
    """The ranks of a profile, which are told by the names of profiler_info."""
    found = [
        TextRank(int(told[1]), path.parent)
        for path in profile.rglob("profiler_info_*.json")
        if (told := INFORMATION.fullmatch(path.name))
    ]
    assert found, f"no rank folder in {profile}"
    assert not list(profile.rglob("*.db")), f"{profile} is read as databases"
    return sorted(found)


def told_groups(ranks: Sequence[TextRank]) -> dict[str, tuple[str, str, list[int]]]:
    """Readable name, purpose and global ranks of each group that the metadata name, by its hash."""
    return {
        group_hash(text): (text, group["group_name"], sorted(group["global_ranks"]))
        for rank in ranks
        for text, group in (rank.metadata("parallel_group_info") or {}).items()
    }
