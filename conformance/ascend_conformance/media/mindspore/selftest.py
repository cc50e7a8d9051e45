"""Every rule meets its own break in clean folders, and only its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from ascend_spec import mindspore_catalog

from ...engine.relations.selftest import Bench
from ...engine.trials import Trials, try_all
from .facts import open_facts
from .gather import read_folder
from .rules import FileRule, load_file_rules
from .shown import ShownByFacts
from .specimens import SPECIMENS, Side, write_specimen
from .workbench import WORKBENCH


def run_specimens(
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
    rules: Iterable[str] | None = None,
) -> Trials:
    """Try every rule, or those named, on all of our own clean folders and sum up."""
    return try_all(SPECIMENS, partial(run_specimen, rules=rules), processes, progress)


def run_specimen(subject: str, rules: Iterable[str] | None = None) -> Trials:
    """Try every rule, or those named, on one of our clean folders; what a worker process does."""
    result = Trials()
    wanted = [one for one in load_file_rules().values() if rules is None or one.id in rules]
    with TemporaryDirectory(prefix=".ascend-ref-") as place:
        for side, path in write_specimen(subject, Path(place)).items():
            own = [one for one in wanted if side_of(one) == side]
            found = WORKBENCH.try_folder(f"{subject}, {side}", path, own)
            result.trials += found.trials
            result.unclean += found.unclean
    return result


def side_of(rule: FileRule) -> Side:
    """In which files a rule is tried: what another side has would only differ from it then."""
    if rule.search.next_to:
        return "next to each other"
    kinds = {edit["file"] for edit in rule.breaks}
    if rule.search.table == "remade" or not kinds:
        return "both"
    is_raw = kinds <= mindspore_catalog().files.keys() | {"done"}
    return "raw files" if is_raw else "intermediate files"


@contextmanager
def open_bench(subject: str) -> Iterator[Bench]:
    """The intermediate files of a clean job, in which relations are tried."""
    with TemporaryDirectory(prefix=".ascend-ref-") as place, open_facts() as facts:
        path = write_specimen(subject, Path(place))["intermediate files"]
        read_folder(facts, path, subject)
        shown = ShownByFacts(facts)

        @contextmanager
        def changing() -> Iterator[ShownByFacts]:
            facts.connection.execute("SAVEPOINT clean")
            try:
                yield shown
            finally:
                facts.connection.execute("ROLLBACK TO clean")
                facts.connection.execute("RELEASE clean")

        yield Bench(subject, changing, lambda _: ())
