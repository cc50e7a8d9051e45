"""What every test may rely on."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Give Ctrl-C back its meaning, which a shell takes from what it starts in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
