"""Clean folders in which relations are tried: their records are changed, and read again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...engine.relations.selftest import Bench
from .editing import EditableRecords
from .recorded import open_recorded
from .specimens import write_capture

BENCHES = ("text-museum",)
"""The presets of which the first rank is tried."""

WITHOUT_RELATIONS = ("instr.*", "socpmu.*", "ffts_profile.*", "host_cpu.*", "host_sys*")
"""Large files of which no relation reads anything."""


@contextmanager
def open_bench(name: str) -> Iterator[Bench]:
    """The folder of a clean capture of a preset, in which relations are tried.

    It is read once; what is changed in it is read again, and then put back.
    """
    with TemporaryDirectory(prefix=".ascend-ref-") as place, ExitStack() as held:
        apart = Path(place) / "whole"
        apart.mkdir()
        whole = write_capture(name, apart)
        used = Path(place) / whole.name
        shutil.copytree(whole, used, ignore=shutil.ignore_patterns(*WITHOUT_RELATIONS))
        clean = held.enter_context(open_recorded(used))
        contents = clean.contents()

        @contextmanager
        def changing() -> Iterator[EditableRecords]:
            try:
                with closing(EditableRecords(used, clean)) as shown:
                    yield shown
            finally:
                _put_back(used, whole)

        def changed(shown: Any) -> set[str]:
            """The tables with other rows."""
            now = shown.shown.contents()
            every = contents.keys() | now.keys()
            return {one for one in every if contents.get(one) != now.get(one)}

        yield Bench(name, changing, lambda _: (), changed)


def _put_back(used: Path, whole: Path) -> None:
    """Give every file of a folder the content that it has in another."""
    for path in (one for one in used.rglob("*") if one.is_file()):
        content = (whole / path.relative_to(used)).read_bytes()
        if path.read_bytes() != content:
            path.write_bytes(content)
