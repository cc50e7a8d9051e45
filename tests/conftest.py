"""What every test may rely on."""

from __future__ import annotations

import gc
import signal

from ascend_ref.cli import YOUNG_OBJECTS


def pytest_configure() -> None:
    """Give Ctrl-C back its meaning, which a shell takes from what it starts in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(YOUNG_OBJECTS)


def pytest_collection_finish() -> None:
    """Spare the collector the tests and modules, which live to the end: it took a tenth of all."""
    gc.freeze()
