"""Runs msprof-analyze once: on a copy of a profile, into a new folder, from an empty one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from consumer_log import offending
from consumer_ranks import tables

TIME_LIMIT = 120.0
SWITCHES = {"AGENT_MODE", "MSPROF_ANALYZE_LOG_FILE", "MSPROF_ANALYZE_LOG_LEVEL", "PYTHONWARNINGS"}
NOT_COPIED = shutil.ignore_patterns("*-shm", "*-wal")


@dataclass(frozen=True)
class Run:
    """What one run of the tool left."""

    name: str
    code: int
    log: str
    seconds: float
    place: Path
    inputs: frozenset[Path]

    @property
    def profile(self) -> Path:
        """The copy, into which some modes write."""
        return self.place / "profile"

    @property
    def output(self) -> Path:
        return self.place / "output"

    @property
    def cwd(self) -> Path:
        return self.place / "cwd"

    @property
    def database(self) -> Path:
        """The result tables; several modes write none when they have nothing to tell."""
        return self.output / "cluster_analysis_output" / "cluster_analysis.db"

    @property
    def tables(self) -> set[str]:
        return tables(self.database)

    def written(self) -> list[str]:
        """The files that the run made, in its folders and next to the databases of the copy."""
        made = _files(self.place) - self.inputs
        return sorted(str(path.relative_to(self.place)) for path in made)

    def complaints(self, allowed: Iterable[str]) -> list[str]:
        """What the tool says against the profile."""
        said = [f"{self.name}: {line}" for line in offending(self.log, allowed)]
        return said if self.code == 0 else [f"{self.name}: exit code {self.code}", *said]


def tool() -> Path:
    """The console script in the environment of the tests, of which it is a part."""
    path = Path(sysconfig.get_path("scripts")) / "msprof-analyze"
    assert path.exists(), "needs msprof-analyze: pip install -e '.[test]'"
    return path


def run_cluster(mode: str, profile: Path, scratch: Path) -> Run:
    """``msprof-analyze cluster`` in one mode."""
    words = ["cluster", "-m", mode, "-d", "{profile}", "-o", "{output}", "--force"]
    return run_tool(mode, words, profile, scratch)


def run_tool(name: str, words: Sequence[str], profile: Path, scratch: Path) -> Run:
    """One run; ``{profile}`` and ``{output}`` in the words stand for the copy and the results."""
    scratch.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=scratch))
    places = {"profile": place / "profile", "output": place / "output"}
    copy_profile(profile, places["profile"])
    (place / "cwd").mkdir()
    inputs = frozenset(_files(place))
    started = time.monotonic()
    code, log = _run([tool(), *(word.format(**places) for word in words)], place / "cwd")
    return Run(name, code, log, time.monotonic() - started, place, inputs)


def copy_profile(profile: Path, target: Path) -> None:
    """A writable copy, without what SQLite left next to the databases."""
    shutil.copytree(profile, target, ignore=NOT_COPIED, copy_function=shutil.copyfile)
    for path in (target, *target.rglob("*")):
        path.chmod(0o750 if path.is_dir() else 0o640)


def _files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def _run(command: Sequence[str | Path], cwd: Path) -> tuple[int, str]:
    """Exit code and stderr; the tool starts processes of its own, which end with it."""
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env={name: value for name, value in os.environ.items() if name not in SWITCHES},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _, told = process.communicate(timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise AssertionError(f"{command} took more than {TIME_LIMIT:g} s") from None
    return process.returncode, told.decode(errors="replace")
