"""A capture as the files of a ``FRAMEWORK`` folder."""

from __future__ import annotations

from pathlib import Path

from ascend_ref.capture import Capture

from ..moments import MOMENTS, Moments
from .events import write_memory
from .functions import write_functions
from .garbage import write_collections
from .operators import write_operators
from .queue import write_queue


def write_framework(folder: Path, capture: Capture, moments: Moments = MOMENTS) -> None:
    """Write what the adapter recorded into the new folder, of which :func:`pytorch_view` states
    what it holds. Raises ``OSError``.
    """
    folder.mkdir()
    clock = moments.clocks(capture.origin.start).host
    write_operators(capture, folder, clock)
    write_queue(capture, folder, clock)
    write_functions(capture, folder, clock)
    write_memory(capture, folder, clock)
    write_collections(capture, folder, clock)
