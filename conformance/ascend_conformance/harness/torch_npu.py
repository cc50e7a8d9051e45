"""torch_npu's offline analysis of a raw profile, without torch, without CANN and without a device.

It comes from a wheel, of which the Python parts that it needs are unpacked, or from a folder where
they are. What they import besides stands there as stubs. CANN's own exporter, which it calls for
PROF_*, is our export under the name of ``msprof`` (:mod:`.msprof_stand_in`). Source: consumers 2.7.
"""

from __future__ import annotations

import os
import shutil
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO

from ascend_ref.cli.guard import one_line
from ascend_ref.raw.tree import FRAMEWORK
from ascend_spec import layout_catalog

from . import msprof_stand_in
from .exporters import Result, result_of
from .limits import Limits, run

PARTS = (
    "torch_npu/profiler/analysis/",
    "torch_npu/utils/_error_code.py",
    "torch_npu/utils/_path_manager.py",
    "torch_npu/_init/common/warning_utils.py",
)
"""What the analysis needs of a wheel."""
ENTRY = "torch_npu/profiler/analysis/_npu_profiler.py"
STUBS = {
    "torch/__init__.py": "",
    "torch/_C/__init__.py": "class FunctionSchema:\n    pass\n",
    "torch/profiler/__init__.py": "",
    "torch/profiler/_utils.py": "traverse_dfs = None\n",
    "torch_npu/__init__.py": "",
    "torch_npu/_C/__init__.py": "",
    "torch_npu/_C/_profiler.py": "def _get_host_uid():\n    return 0\n",
    "torch_npu/_init/__init__.py": "",
    "torch_npu/_init/common/__init__.py": "",
    "torch_npu/profiler/__init__.py": "",
    "torch_npu/utils/__init__.py": "",
    "torch_npu/utils/utils.py": "def _is_interactive_command_line():\n    return False\n",
}
"""Modules of torch, and of the compiled parts of torch_npu, that are imported, by their texts.

Nothing but a timeline of memory, which is not asked for, calls ``traverse_dfs``.
"""
ANALYSE = """
import sys
sys.path.insert(0, sys.argv[1])
from torch_npu.profiler.analysis._npu_profiler import NpuProfiler
NpuProfiler.analyse(sys.argv[2], export_type=["text", "db"])
"""
DONE = "analyse.done"
BAD = ("run failed", "DB parser failed", "has been lost", "Failed to")
"""What it says where a part did not work; its exit code is 0 all the same."""
MOST_MEMBERS = 4096
"""Files of an archive that are unpacked; a wheel needs about 120."""
MOST_BYTES = 64 << 20


class NoTorchNpu(Exception):
    """There is no analysis in a wheel or folder; the text is one clear line."""


def analysis_in(path: Path) -> Path:
    """A wheel, a folder with the package ``torch_npu``, or the newest wheel in a folder.

    Raises :class:`NoTorchNpu`.
    """
    wanted = "expected a wheel of torch_npu, a folder with one, or one with the package torch_npu"
    if (path / ENTRY).is_file():
        return path
    wheels = sorted(path.glob("torch_npu-*.whl")) if path.is_dir() else [path]
    if not wheels or not wheels[-1].exists():
        raise NoTorchNpu(f"{path}: no torch_npu there; {wanted}")
    try:
        with zipfile.ZipFile(wheels[-1]) as archive:
            archive.getinfo(ENTRY)
    except (OSError, KeyError, zipfile.BadZipFile):
        raise NoTorchNpu(f"{wheels[-1]}: no wheel of torch_npu; {wanted}") from None
    return wheels[-1]


@dataclass(frozen=True)
class TorchNpu:
    """The analysis as an exporter of raw profiles. ``source``: as :func:`analysis_in` finds it."""

    source: Path
    limits: Limits
    text: str
    name: str = "torch-npu"
    writer: str | None = None
    features: frozenset[str] | None = None

    def export(self, source: Path, target: Path) -> Result:
        """Run it on a copy, and take what it has written."""
        if not (source / FRAMEWORK).is_dir():
            return Result("skipped", f"it has no {FRAMEWORK}; expected a profile of the framework")
        with TemporaryDirectory(prefix="ascend-ref-") as place, TemporaryFile() as said:
            modules = Path(place) / "modules"
            unpack(self.source, modules)
            copied = Path(place) / source.name
            shutil.copytree(source, copied)
            prof = next(copied.glob("PROF_*"), None)
            program = msprof_stand_in.install(Path(place) / "cann", prof)
            if program is None:
                return Result("skipped", "the path of the folder for temporary files has 'tools'")
            words = [sys.executable, "-c", ANALYSE, str(modules), str(copied)]
            found = {"PATH": f"{program.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
            ended = result_of(run(words, Path(place), self.limits, found, said))
            if ended.how != "done":
                return ended
            output = copied / layout_catalog().folder("pytorch", "output")
            complaint = next(_complaints(said), None)
            if complaint is not None or not (output / DONE).is_file():
                return Result("failed", complaint or f"it ended without {DONE}")
            (output / DONE).unlink()
            for path in output.iterdir():
                shutil.move(path, target / path.name)
        return Result("done")

    def close(self) -> None:
        """Nothing is left of an analysis that has ended."""


def unpack(source: Path, folder: Path) -> None:
    """The modules of the analysis, and stubs for what they import, below a new folder.

    Raises :class:`NoTorchNpu` for an archive that is none, or that holds more than a wheel does.
    """
    for name, text in _modules_of(source):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    for name, stub in STUBS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(stub, encoding="utf-8")


def _modules_of(source: Path) -> Iterator[tuple[str, bytes]]:
    if source.is_dir():
        for path in sorted(source.joinpath("torch_npu").rglob("*.py")):
            name = path.relative_to(source).as_posix()
            if name.startswith(PARTS):
                yield name, path.read_bytes()
        return
    try:
        with zipfile.ZipFile(source) as archive:
            members = [
                one
                for one in archive.infolist()
                if one.filename.startswith(PARTS)
                and one.filename.endswith(".py")
                and ".." not in one.filename.split("/")
            ]
            if len(members) > MOST_MEMBERS or sum(one.file_size for one in members) > MOST_BYTES:
                raise NoTorchNpu(f"{source}: larger than a wheel of torch_npu")
            for one in members:
                yield one.filename, archive.read(one)
    except (OSError, zipfile.BadZipFile) as problem:
        raise NoTorchNpu(f"{source}: {problem}; expected a wheel of torch_npu") from None


def _complaints(said: IO[bytes]) -> Iterator[str]:
    said.seek(0)
    for line in said.read().decode(errors="replace").splitlines():
        if any(one in line for one in BAD):
            yield one_line(line)
