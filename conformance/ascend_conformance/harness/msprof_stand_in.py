"""What torch_npu takes for ``msprof``: a program that hands out what our own export makes.

torch_npu calls ``msprof --export=on`` and ``--analyze=on`` for a ``PROF_*`` folder, each with and
without ``--type=db``, and reads what is in the folder afterwards. Source: consumers 2.7.
"""

from __future__ import annotations

from pathlib import Path

from ascend_ref.profile.analyze import ANALYZE, write_analysis
from ascend_ref.profile.write import write_msprof_outputs
from ascend_ref.raw.decode.read import read_raw
from ascend_spec import catalog

SCRIPT = "tools/profiler/profiler_tool/analysis/msprof/msprof.py"
"""File of CANN of which torch_npu asks only whether it is there, from the first ``tools`` in the
path of the program on."""
PROGRAM = "tools/profiler/bin/msprof"
FORMS = {"db": ("db",), "text": ("csv", "timeline")}
LEAST_SECONDS = 1
"""torch_npu drops its timeline where msprof ends within half a second of its first file: it looks
for files while msprof runs, and takes the first for all. So they appear at once, and early.
"""
WORDS = """#!/bin/sh
do=export form=text
for word in "$@"; do
    case "$word" in
        --help) echo "--export --analyze --type: text(which will also export the database), db"
            exit 0;;
        --analyze=on) do=analyze;;
        --type=*) form="${word#--type=}";;
        --output=*) folder="${word#--output=}";;
    esac
done
hidden="$folder/.$do-$form"
cp -R "{made}/$do-$form" "$hidden" || exit 1
for path in "$hidden"/*; do
    if [ -d "$folder/${path##*/}" ]; then cp -R "$path" "$folder"; else mv "$path" "$folder"; fi
done
rm -rf "$hidden"
exec sleep {seconds}
"""


def install(folder: Path, prof: Path | None) -> Path | None:
    """The program, in a new folder that looks like CANN's, for the raw files of ``prof``.

    ``None`` where torch_npu would not find it: it cuts its path at the first ``tools``.
    """
    program, script, made = folder / PROGRAM, folder / SCRIPT, folder / "made"
    if "tools" in str(folder.resolve()):
        return None
    for path in (program, script):
        path.parent.mkdir(parents=True)
    script.touch()
    program.write_text(
        WORDS.replace("{made}", str(made)).replace("{seconds}", str(LEAST_SECONDS)),
        encoding="utf-8",
    )
    program.chmod(0o755)
    if prof is not None:
        _make(prof, made)
    return program


def _make(prof: Path, made: Path) -> None:
    """All that msprof could be asked for, by what is done and in which form."""
    revision = catalog().revisions[-1].id
    (found,) = read_raw(prof)
    for form, kinds in FORMS.items():
        exported, analysed = made / f"export-{form}", made / f"analyze-{form}" / ANALYZE
        for path in (exported, analysed):
            path.mkdir(parents=True)
        write_msprof_outputs(exported, found.capture, revision, kinds)
        write_analysis(analysed, found.capture, revision, (form,))
