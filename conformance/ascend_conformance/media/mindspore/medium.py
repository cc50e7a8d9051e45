"""The medium of MindSpore's raw and intermediate files: those of one folder are judged together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import Described, Judged, Medium, SelfTest

if TYPE_CHECKING:
    from ascend_ref.markdown import Style

    from ...engine.candidate import Candidate, Listing
    from ...engine.damaging import Change
    from ...engine.progress import Progress
    from ...engine.relations.selftest import Bench
    from ...engine.trials import Trials
    from ...options import Options
    from ...ruleset import Rule


class _FilesOfMindSpore(Medium):
    name = "mindspore"
    takes_databases = False
    title = "Files of MindSpore's profiler"
    given = ("file of MindSpore",)
    specimens = ("mindspore",)

    def rules(self) -> Mapping[str, Rule[Any]]:
        from .rules import load_file_rules

        return load_file_rules()

    def candidates(self, listing: Listing) -> Iterable[Candidate]:
        from .folder import folders_in

        return folders_in(listing)

    def recognise(self, path: Path, listing: Listing) -> Candidate | None:
        from .folder import file_alone

        return file_alone(path)

    def judge(self, candidate: Candidate, options: Options, progress: Progress | None) -> Judged:
        from .judge import judge_files  # slow: pyarrow

        return judge_files(candidate.path, options, candidate.label, progress), ()

    def damage(self, candidate: Candidate, rule: Rule[Any], at: str | None) -> Sequence[Change]:
        from .workbench import WORKBENCH

        return WORKBENCH.damage(candidate.path, rule)

    def self_test(self, wanted: SelfTest) -> Trials:
        from .selftest import run_specimens  # slow: the simulator

        return run_specimens(wanted.processes, wanted.progress, wanted.rules)

    def benches(self, specimen: str) -> Mapping[str, Callable[[], AbstractContextManager[Bench]]]:
        from .selftest import open_bench  # slow: the simulator
        from .specimens import SPECIMENS

        subjects = SPECIMENS if specimen in self.specimens else ()
        return {one: partial(open_bench, one) for one in subjects}

    def describe(self, rule: Rule[Any], style: Style) -> Described:
        from ...engine.fact_pages import edits_of_files, search_in
        from . import pages

        search = search_in(rule.search.table, rule)
        return Described(pages.where(rule, style), search, edits_of_files(rule, style))

    def about(self, rule: Rule[Any]) -> Iterable[tuple[str, str]]:
        from . import pages

        return pages.about(rule)


MEDIUM = _FilesOfMindSpore()
