"""Every rule meets its own break in clean folders, and only its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from ...engine.trials import Trials, try_all
from .rules import TEXT, RawRule, load_raw_rules
from .specimens import SPECIMENS, write_specimen
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
    wanted = [
        one
        for one in load_raw_rules().values()
        if (rules is None or one.id in rules) and is_of_text(one) == (subject == TEXT)
    ]
    with TemporaryDirectory(prefix=".ascend-ref-") as place:
        return WORKBENCH.try_folder(subject, write_specimen(subject, Path(place)), wanted)


def is_of_text(rule: RawRule) -> bool:
    """Whether a rule is about texts, in which alone it is tried; the others need records."""
    return rule.theme == TEXT
