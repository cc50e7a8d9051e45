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

DRAWS = 30
"""Examples that a property test draws unless it states another number."""

MARK_OF_MODULE = re.compile(r"^pytestmark = pytest\.mark\.(exhaustive|campaign)$", re.MULTILINE)
"""The mark of a module, whose tests have none of their own."""
ANY_MARK = re.compile(r"exhaustive|campaign|slices")
"""What a module mentions that has marked tests."""


def pytest_configure() -> None:
    """Give Ctrl-C back its meaning, which a shell takes from what it starts in the background.

    No property test is timed: other work on the machine is no failure.
    """
    settings.register_profile("short", deadline=None, max_examples=DRAWS)
    settings.load_profile("short")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(YOUNG_OBJECTS)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the modules whose only mark is none that is asked for: some take long to import."""
    if not (collection_path.suffix == ".py" and config.option.markexpr):
        return None
    text = collection_path.read_text(encoding="utf-8")
    asked = Expression.compile(config.option.markexpr)
    if ANY_MARK.search(text) is None:
        return not asked.evaluate(lambda *_, **__: False) or None
    found = MARK_OF_MODULE.search(text)
    if found is None:
        return None
    return not asked.evaluate(lambda name, **_: name == found[1]) or None


def pytest_collection_finish() -> None:
    """Spare the collector the tests and modules, which live to the end: it took a tenth of all."""
    gc.freeze()
