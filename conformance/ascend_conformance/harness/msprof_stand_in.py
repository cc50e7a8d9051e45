"""What torch_npu takes for ``msprof``: our own export of raw files, called as it calls msprof.

``--export=on`` writes the database (``--type=db``) or the texts of a ``PROF_*`` folder into it,
``--analyze=on`` what there is of communication. Source: consumers 2.7.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from ascend_ref.profile.analyze import ANALYZE, write_analysis
from ascend_ref.profile.raw import INCOMPLETE, export_raw
from ascend_ref.raw.decode.read import read_raw
from ascend_spec import catalog

SCRIPT = Path("tools/profiler/profiler_tool/analysis/msprof/msprof.py")
"""File of CANN of which torch_npu asks only whether it is there."""
PROGRAM = Path("tools/profiler/bin/msprof")
HELP = "--output  --export  --analyze  --type: text(which will also export the database), db"
"""What torch_npu looks for in the help: that databases can be exported, and are with the texts."""
LEAST_SECONDS = 1.0
"""torch_npu drops its timeline where msprof ends within half a second."""
KINDS = {"db": ("db",), "text": ("csv", "timeline")}


def install(folder: Path) -> Path | None:
    """The program, in a new folder that looks like CANN's; ``None`` where it would not be found.

    torch_npu cuts its path at the first ``tools`` in it.
    """
    program, script = folder / PROGRAM, folder / SCRIPT
    if "tools" in str(folder.resolve()):
        return None
    for path in (program, script):
        path.parent.mkdir(parents=True, exist_ok=True)
    script.touch()
    words = f'exec "{sys.executable}" -m {__name__} "$@"'
    program.write_text(f"#!/bin/sh\n{words}\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def main(words: Sequence[str]) -> int:
    """Do what one call of msprof asks for; returns its exit code."""
    begun = time.monotonic()
    options = dict(word.removeprefix("--").partition("=")[::2] for word in words)
    if "help" in options:
        print(HELP)
        return 0
    _write(Path(options["output"]), options)
    time.sleep(max(0.0, LEAST_SECONDS - (time.monotonic() - begun)))
    return 0


def _write(folder: Path, options: Mapping[str, str]) -> None:
    form = options.get("type", "text")
    if options.get("analyze") == "on":
        (folder / ANALYZE).mkdir(exist_ok=True)
        revision = catalog().revisions[-1].id
        for one in read_raw(folder):
            write_analysis(folder / ANALYZE, one.capture, revision, (form,))
        return
    with TemporaryDirectory(prefix=".ascend-ref-", dir=folder) as place:
        export_raw(folder, Path(place) / "made", KINDS[form])
        for path in sorted(Path(place, "made").iterdir()):
            if path.name != INCOMPLETE:
                shutil.move(path, folder / path.name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
