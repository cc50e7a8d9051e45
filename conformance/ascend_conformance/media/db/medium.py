"""The medium of databases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascend_spec.db.model import CARRIERS

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


class _Databases(Medium):
    name = "db"
    title = "Databases"
    given = ("msprof_*.db", "ascend_pytorch_profiler*.db", "analysis.db")
    specimens = CARRIERS

    def rules(self) -> Mapping[str, Rule[Any]]:
        from .rules import load_db_rules

        return load_db_rules()

    def specimens_of(self, rule: Rule[Any]) -> tuple[str, ...]:
        return rule.search.carriers or CARRIERS

    def is_named(self, name: str) -> bool:
        from ascend_ref.db.carrier import carrier_of_name

        return carrier_of_name(name)[0] is not None

    def recognise(self, path: Path, listing: Listing) -> Candidate | None:
        """Every file that no other medium takes; if it is no database, the verdict states that."""
        from .opening import candidate

        return candidate(path, listing)

    def judge(self, candidate: Candidate, options: Options, progress: Progress | None) -> Judged:
        from .verdict import judge_database  # slow: pyarrow

        return judge_database(candidate, options, progress)

    def compare(self, facts: Sequence[Any], options: Options) -> Mapping[str, Sequence[Finding]]:
        from .verdict import compare_ranks

        return compare_ranks(facts, options)

    def damage(self, candidate: Candidate, rule: Rule[Any], at: str | None) -> Sequence[Change]:
        from .damaging import damage_database  # slow: pyarrow

        return damage_database(candidate, rule, at)

    def self_test(self, wanted: SelfTest) -> Trials:
        from .selftest import run  # slow: the simulator

        carriers = [carrier for carrier in CARRIERS if carrier in wanted.specimens]
        return run(carriers, wanted.revisions, wanted.processes, wanted.progress, wanted.rules)

    def trying(self) -> Mapping[str, Trying]:
        """At the newest revision; a place that several databases have counts in each."""
        from ascend_spec import catalog

        from ...engine.trials import Trying
        from .batches import batches
        from .filetrials import DAMAGES  # slow: the simulator
        from .mutation import SCHEMA_BREAKS

        tried = batches(CARRIERS, (catalog().revisions[-1].id,))
        places = Counter(key.partition("@")[0] for batch in tried for key in batch.keys)
        return {
            rule.id: Trying.of(
                rule,
                places[rule.id],
                broken=bool(rule.breaks) or rule.search.code in {*SCHEMA_BREAKS, *DAMAGES},
            )
            for rule in self.rules().values()
        }

    def benches(self, specimen: str) -> Mapping[str, Callable[[], AbstractContextManager[Bench]]]:
        from .selftest import open_bench  # slow: the simulator

        carrier = next((one for one in CARRIERS if one == specimen != "analysis"), None)
        return {} if carrier is None else {specimen: partial(open_bench, carrier)}

    def describe(self, rule: Rule[Any], style: Style) -> Described:
        from . import pages

        search, mutation = pages.search(rule), pages.mutation(rule, style)
        return Described(pages.where(rule, style), search, mutation, pages.facts(rule, style))

    def about(self, rule: Rule[Any]) -> Iterable[tuple[str, str]]:
        from . import pages

        return pages.about(rule)


MEDIUM = _Databases()
