"""Which task is which operator, and ``framework_raw``."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain

from .framework_records import read_framework_records
from .framework_text import read_framework_text
from .operator import Framework
from .run import Run
from .tables import write_rows

TABLE = "framework_raw"


@lru_cache(maxsize=1)
def framework_of(run: Run) -> Framework | None:
    """What the framework says of a run, which all of its parsers share; ``None`` for nothing.

    What cannot be read is stated once.
    """
    return read_framework_text(run) or read_framework_records(run)


def write_framework(run: Run) -> None:
    """Write ``framework_raw``."""
    framework = framework_of(run)
    path = None if framework is None else run.path(TABLE)
    if framework is None or path is None:
        return
    columns = [one.name for one in run.columns(TABLE)]
    rows = ([row.get(name) for name in columns] for row in framework.rows)
    write_rows(run, path, chain([columns], rows))
