"""Clean folders in which relations are tried: their records are changed, and read again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ...engine.relations.selftest import Bench
from .editing import EditableRecords
from .specimens import write_capture

BENCHES = ("text-museum",)
"""The presets of which the first rank is tried."""

WITHOUT_RELATIONS = ("instr.*", "socpmu.*", "ffts_profile.*", "host_cpu.*", "host_sys*")
"""Large files of which no relation reads anything."""


@contextmanager
def open_bench(name: str) -> Iterator[Bench]:
    """The folder of a clean capture of a preset, in which relations are tried."""
    with TemporaryDirectory(prefix=".ascend-ref-") as place:
        clean = write_capture(name, Path(place))

        @contextmanager
        def changing() -> Iterator[EditableRecords]:
            with TemporaryDirectory(prefix=".ascend-ref-") as other:
                copy = Path(other) / clean.name
                shutil.copytree(clean, copy, ignore=shutil.ignore_patterns(*WITHOUT_RELATIONS))
                with closing(EditableRecords(copy)) as shown:
                    yield shown

        yield Bench(name, changing, lambda _: ())
