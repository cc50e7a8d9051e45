"""What every test may rely on."""

from __future__ import annotations

import gc
import re
import signal
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression
from hypothesis import settings

from ascend_ref.cli import YOUNG_OBJECTS

MARK_OF_MODULE = re.compile(r"^pytestmark = pytest\.mark\.(exhaustive|campaign)$", re.MULTILINE)
"""The mark of a module, whose tests have none of their own."""


def pytest_configure() -> None:
    """Give Ctrl-C back its meaning, which a shell takes from what it starts in the background.

    No property test is timed: other work on the machine is no failure.
    """
    settings.register_profile("untimed", deadline=None)
    settings.load_profile("untimed")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(YOUNG_OBJECTS)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the modules whose only mark is none that is asked for: some take long to import."""
    if not (collection_path.suffix == ".py" and config.option.markexpr):
        return None
    found = MARK_OF_MODULE.search(collection_path.read_text(encoding="utf-8"))
    if found is None:
        return None
    asked = Expression.compile(config.option.markexpr)
    return not asked.evaluate(lambda name, **_: name == found[1]) or None


def pytest_collection_finish() -> None:
    """Spare the collector the tests and modules, which live to the end: it took a tenth of all."""
    gc.freeze()
