"""The medium of text deliverables: the files of one folder are judged together."""

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
    from ...engine.trials import Trials, Trying
    from ...finding import Finding
    from ...options import Options
    from ...ruleset import Rule
    from .deliverables import Output


class _Texts(Medium):
    name = "text"
    takes_databases = False
    title = "CSV files, timelines and documents"
    given = ("CSV file", "timeline", "communication*.json of a profiler")
    specimens = ("text",)

    def rules(self) -> Mapping[str, Rule[Any]]:
        from .rules import load_text_rules

        return load_text_rules()

    def candidates(self, listing: Listing) -> Iterable[Candidate]:
        from .deliverables import output_of_folder

        return output_of_folder(listing)

    def recognise(self, path: Path, listing: Listing) -> Candidate | None:
        from .deliverables import output_of_file

        return output_of_file(path, listing)

    def judge(self, candidate: Candidate, options: Options, progress: Progress | None) -> Judged:
        from .judge import judge_text  # slow: duckdb, pyarrow

        output: Output = candidate.details
        return judge_text(
            output.deliverables,
            candidate.label,
            options,
            alone=output.alone,
            database=output.database,
            progress=progress,
        )

    def compare(self, facts: Sequence[Any], options: Options) -> Mapping[str, Sequence[Finding]]:
        from ...compare.ranks import judge_profiles

        return judge_profiles(facts, options.selection)

    def damage(self, candidate: Candidate, rule: Rule[Any], at: str | None) -> Sequence[Change]:
        from .damaging import damage_texts  # slow: duckdb, pyarrow

        return damage_texts(candidate.details, rule, at)

    def self_test(self, wanted: SelfTest) -> Trials:
        from .selftest import run_specimens  # slow: the simulator

        return run_specimens(wanted.processes, wanted.progress, wanted.rules)

    def trying(self) -> Mapping[str, Trying]:
        from ...engine.trials import Trying
        from .rules import DERIVED, instances

        found = {}
        for rule in self.rules().values():
            agreement, check = rule.search.agreement, rule.search.check or ""
            places = agreement.instances if agreement else list(instances(rule))
            follows = agreement is not None or check.startswith(DERIVED)
            found[rule.id] = Trying.of(rule, len(places), broken=follows or bool(rule.breaks))
        return found

    def benches(self, specimen: str) -> Mapping[str, Callable[[], AbstractContextManager[Bench]]]:
        from .selftest import open_bench  # slow: the simulator

        kinds = ("csv", "timeline") if specimen in self.specimens else ()
        return {kind: partial(open_bench, kind) for kind in kinds}

    def describe(self, rule: Rule[Any], style: Style) -> Described:
        from . import pages

        return Described(pages.where(rule), pages.search(rule), pages.mutation(rule, style))

    def about(self, rule: Rule[Any]) -> Iterable[tuple[str, str]]:
        from . import pages

        return pages.about(rule)


MEDIUM = _Texts()
