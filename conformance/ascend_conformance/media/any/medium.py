"""The checker's own medium: its failures, and what killed runs left in a folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import NO_PROFILE, Described, Judged, Medium

if TYPE_CHECKING:
    from ascend_ref.markdown import Style

    from ...engine.candidate import Candidate, Listing
    from ...engine.progress import Progress
    from ...options import Options
    from ...ruleset import Rule


_BY_THEME = {
    "failures": Described(
        "every file that is judged", "The checker failed, and went on with what is left."
    ),
    "causes": Described(
        "text deliverables of a folder and the databases next to them",
        "Where all comparisons in which most rows differ have one file in common, it is that file.",
    ),
    "differences": Described(
        "two profiles of any media (ascend-ref diff)",
        "What both show of the recording is paired and compared by meaning.",
    ),
    "expected": Described(
        "every profile that is judged with --expect",
        "What its files show together is compared with what the expectation names.",
    ),
    "exporters": Described(
        "what an exporter writes of a simulated recording (ascend-ref conform)",
        "Its run is watched, and its files are compared with what is true of the recording.",
    ),
    "life_cycle": Described(
        "an implementation of ge/ge_prof.h (ascend-ref ge conform-life-cycle)",
        "Sequences of calls are drawn, and what it answers is compared with what the model does.",
    ),
    "ranks": Described(
        "databases or text deliverables of several ranks that are judged together",
        "Each two of them are compared.",
    ),
}
"""Where rules of a file look, and how."""


class _Checker(Medium):
    """What the checker says of itself, on whatever it judges, and of what is no profile."""

    name = NO_PROFILE
    title = "Any profile"

    def rules(self) -> Mapping[str, Rule[Any]]:
        from ...engine.failure import own_rules

        return own_rules()

    def candidates(self, listing: Listing) -> Iterable[Candidate]:
        from .left import left_in
        from .passed_over import passed_over_in
        from .raw import raw_in

        found = (left_in, raw_in, passed_over_in)
        return (one for find in found for one in find(listing))

    def recognise(self, path: Path, listing: Listing) -> Candidate | None:
        """A file that is none of a profile; of a database its tables show it better."""
        from ...engine.candidate import Candidate
        from .no_profile import NoProfile
        from .other import other_file

        what = other_file(path, databases=False)
        return Candidate(self.name, path, details=NoProfile(what)) if what else None

    def judge(self, candidate: Candidate, options: Options, progress: Progress | None) -> Judged:
        from .no_profile import judge

        return judge(candidate, options), ()

    def describe(self, rule: Rule[Any], style: Style) -> Described:
        from .left import LEFT
        from .passed_over import PASSED_OVER
        from .raw import RAW

        if rule.search == RAW:
            return Described("every folder that is searched", "It holds raw data alone.")
        if rule.search == PASSED_OVER:
            return Described(
                "every folder that is searched",
                "The tables of a file of another name are those of a profile.",
            )
        if rule.search == LEFT:
            return Described("every folder that is searched", "The name is one of ours.")
        return _BY_THEME[rule.theme]


MEDIUM = _Checker()
