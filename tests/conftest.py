"""What every test may rely on."""

from __future__ import annotations

import gc
import signal

from hypothesis import settings

from ascend_ref.cli import YOUNG_OBJECTS


def pytest_configure() -> None:
    """Give Ctrl-C back its meaning, which a shell takes from what it starts in the background.

    No property test is timed: other work on the machine is no failure.
    """
    settings.register_profile("untimed", deadline=None)
    settings.load_profile("untimed")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(YOUNG_OBJECTS)


def pytest_collection_finish() -> None:
    """Spare the collector the tests and modules, which live to the end: it took a tenth of all."""
    gc.freeze()
