"""Media: databases, text deliverables, blocks, a server's answers, and what others register."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from ascend_ref.markdown import Style

    from ..engine.candidate import Candidate, Listing
    from ..engine.damaging import Change
    from ..engine.progress import Progress
    from ..engine.relations.selftest import Bench
    from ..engine.trials import Trials, Trying
    from ..finding import FileReport, Finding
    from ..options import Options
    from ..ruleset import Rule

Judged: TypeAlias = "tuple[FileReport, Sequence[Any]]"
"""The verdict on a candidate, and what the comparison with others of the medium needs of it."""


class Described(NamedTuple):
    """Of a rule: where it looks, how it finds what is wrong, paragraphs on how something clean is
    broken, and further lines, each with its label.
    """

    where: str = ""
    search: str = ""
    mutation: Iterable[str] = ()
    facts: Iterable[tuple[str, str]] = ()


class SelfTest(NamedTuple):
    """Which of its rules a medium tries, by their ids (all): on which of its specimens, of which
    revisions (all).
    """

    specimens: Sequence[str]
    revisions: Sequence[str] | None = None
    processes: int = 1
    progress: Callable[[int, int], None] | None = None
    rules: Collection[str] | None = None


class Medium(ABC):
    """What a medium supplies. Only what is abstract must be; the modules are read when needed."""

    name: str
    """What its rules are called for (:attr:`.Rule.medium`)."""

    title: str = ""
    """What its rules are headed with; its name where there is nothing."""

    given: tuple[str, ...] = ()
    """What it judges, in words for somebody who gave nothing of the kind."""

    specimens: tuple[str, ...] = ()
    """The clean files on which its self-test tries its rules, as users choose among them."""

    takes_databases = True
    """Whether it is asked about files that begin as a database of SQLite."""

    @abstractmethod
    def rules(self) -> Mapping[str, Rule[Any]]:
        """Its rules by id."""

    def specimens_of(self, rule: Rule[Any]) -> tuple[str, ...]:
        """Those of its specimens that a rule is for."""
        return self.specimens

    # --- judging ---

    def recognise(self, path: Path, listing: Listing) -> Candidate | None:
        """What a file is by its content, in a folder; ``None`` if not one of this medium."""
        return None

    def candidates(self, listing: Listing) -> Iterable[Candidate]:
        """What of a folder, by its names, is judged together; single files are recognised."""
        return ()

    def is_named(self, name: str) -> bool:
        """Whether a file of a folder is one of this medium by its name, to be recognised."""
        return False

    def judge(self, candidate: Candidate, options: Options, progress: Progress | None) -> Judged:
        """The verdict on a candidate of this medium."""
        raise NotImplementedError(f"{self.name} judges no files")

    def compare(self, facts: Sequence[Any], options: Options) -> Mapping[str, Sequence[Finding]]:
        """By label, the findings that only the comparison of candidates brings."""
        return {}

    # --- damaging files ---

    def damage(self, candidate: Candidate, rule: Rule[Any], at: str | None) -> Sequence[Change]:
        """Carry out a rule's break in the files of a candidate, at a place of it or at the first.

        The rule is one of this medium, or a relation. Raises :class:`.NotBreakable`.
        """
        from ..engine.trials import NotBreakable

        raise NotBreakable(f"files of {self.name} cannot be damaged")

    # --- trying its rules ---

    def self_test(self, wanted: SelfTest) -> Trials:
        """Every rule tried on clean files."""
        from ..engine.trials import Trials

        return Trials()

    def trying(self) -> Mapping[str, Trying]:
        """What its self-test asks of each rule, by id; nothing is tried for that."""
        from ..engine.trials import Trying

        return {rule.id: Trying.of(rule) for rule in self.rules().values()}

    def benches(self, specimen: str) -> Mapping[str, Callable[[], AbstractContextManager[Bench]]]:
        """Clean recordings of a specimen in which relations are tried, by words for them."""
        return {}

    def describe(self, rule: Rule[Any], style: Style) -> Described:
        """What only the page of one of its rules says."""
        return Described()

    def about(self, rule: Rule[Any]) -> Iterable[tuple[str, str]]:
        """What one of its rules looks at: addresses (``table/TASK``), each with what it expects."""
        return ()


_OURS = ("any", "bin", "mindspore", "raw", "text", "db", "api", "relation")
"""In the order in which they are asked what a file is; a database is what is left."""

NO_PROFILE = "any"
"""The medium of what is no profile."""

_SAID_FIRST = ("db", "bin", "text", "mindspore")
"""The order in which users are shown what can be judged."""

_REGISTERED: dict[str, Medium] = {}


def register(medium: Medium) -> None:
    """Add a medium to those of this process. Raises ``ValueError`` for a name that is taken."""
    if medium.name in media():
        raise ValueError(f"there is a medium {medium.name} already")
    _REGISTERED[medium.name] = medium


def withdraw(medium: Medium) -> None:
    """Take a registered medium back."""
    del _REGISTERED[medium.name]


def media() -> Mapping[str, Medium]:
    """Every medium by its name."""
    return _REGISTERED | {name: _ours(name) for name in _OURS}


def given() -> str:
    """What can be judged, in words."""
    known = media()
    order = [known[name] for name in dict.fromkeys([*_SAID_FIRST, *known])]
    words = [text for medium in order for text in medium.given]
    return f"{', '.join(words[:-1])} or {words[-1]}"


def medium_of(rule: Rule[Any]) -> Medium:
    """The medium that a rule judges."""
    return media()[rule.medium]


def _ours(name: str) -> Medium:
    found: Medium = EntryPoint(name, f"{__name__}.{name}.medium:MEDIUM", "media").load()
    return found


def load_rules() -> Mapping[str, Rule[Any]]:
    """Every rule by id, in the order of the ids, those on the checker itself included."""
    found: dict[str, Rule[Any]] = {}
    for medium in media().values():
        found |= medium.rules()
    return dict(sorted(found.items()))


def find_rule(id_: str, likely: Medium) -> Rule[Any] | None:
    """The rule of an id; those of other media than the likely one are loaded only where it is none
    of that.
    """
    every = (medium.rules() for medium in (likely, *media().values()))
    return next((rules[id_] for rules in every if id_ in rules), None)
