"""The medium of text deliverables: the files of one folder are judged together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ascend_ref.db.carrier import carrier_of_name
from ascend_ref.markdown import Style

from ...engine.candidate import Candidate, Listing
from ...engine.progress import Progress
from ...engine.relations.selftest import Bench
from ...engine.trials import Trials
from ...options import Options
from ...ruleset import Rule
from .. import Judged, Medium
from .deliverables import Deliverable, beside, deliverable_of_content, deliverables_of
from .rules import load_text_rules


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
        """It as something to judge."""
        files = tuple(one.path for one in self.deliverables)
        return Candidate("text", path, files=files, details=self, absolute=Output.anywhere)


class _Texts(Medium):
    name = "text"
    given = ("CSV file", "timeline", "communication*.json of a profiler")
    specimens = ("text",)

    def rules(self) -> Mapping[str, Rule[Any]]:
        return load_text_rules()

    def candidates(self, listing: Listing) -> Iterator[Candidate]:
        texts = deliverables_of(listing.paths)
        if texts:
            every = (*texts, *beside(listing.folder))
            yield Output(every, database=_database(listing)).candidate(listing.folder)

    def recognise(self, path: Path, listing: Listing) -> Candidate | None:
        text = deliverable_of_content(path)
        return None if text is None else Output((text,), alone=True).candidate(path)

    def judge(self, candidate: Candidate, options: Options, progress: Progress | None) -> Judged:
        from .judge import judge_text  # slow: duckdb, pyarrow

        output: Output = candidate.details
        report = judge_text(
            output.deliverables,
            candidate.label,
            options,
            alone=output.alone,
            database=output.database,
            progress=progress,
        )
        return report, ()

    def self_test(
        self,
        specimens: Sequence[str],
        revisions: Sequence[str] | None,
        processes: int,
        progress: Any,
    ) -> Trials:
        from .selftest import run_specimens  # slow: the simulator

        return run_specimens(processes, progress)

    def benches(self, specimen: str) -> Mapping[str, Callable[[], AbstractContextManager[Bench]]]:
        from .selftest import open_bench  # slow: the simulator

        kinds = ("csv", "timeline") if specimen in self.specimens else ()
        return {kind: partial(open_bench, kind) for kind in kinds}

    def where(self, rule: Rule[Any], style: Style) -> str:
        from . import pages

        return pages.where(rule)

    def search(self, rule: Rule[Any]) -> str:
        from . import pages

        return pages.search(rule)

    def mutation(self, rule: Rule[Any]) -> Iterable[str]:
        from . import pages

        return pages.mutation(rule)


def _database(listing: Listing) -> Path | None:
    """The profiler's database in a folder or, of msprof, one above it; the last by its name."""
    for carrier in ("pytorch", "msprof"):
        for place in (listing, listing.above):
            named = [one for one in place.paths if carrier_of_name(one.name)[0] == carrier]
            found = next((one for one in reversed(named) if one.is_file()), None)
            if found is not None:
                return found
    return None


MEDIUM = _Texts()
