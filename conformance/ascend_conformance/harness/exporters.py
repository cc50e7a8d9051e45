"""The exporters that can be tried: our own, msprof-analyze, or any command."""

from __future__ import annotations

import shlex
import shutil
import sys
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from ascend_ref.cli.guard import describe

from .limits import Ended, Limits, Way, run

How = Literal["done", "failed", "crashed", "hung", "refused", "broken", "skipped"]
"""``refused``: the exporter reports an error of its own; ``broken``: it breaks the protocol;
``skipped``: it says why it did nothing.
"""


@dataclass(frozen=True, slots=True)
class Result:
    """How one export ended, and why."""

    how: How
    words: str = ""


class Exporter(Protocol):
    """One exporter. ``features``: the files that it can write, ``None`` for all. ``writer``: the
    generation of exporters (spec: text/writers.yaml) that it belongs to, ``None``: the current one.
    """

    @property
    def name(self) -> str:
        """What reports call it."""

    @property
    def text(self) -> str:
        """What it is given as on the command line."""

    @property
    def features(self) -> frozenset[str] | None:
        """Files that it writes, by the name of their kind; ``None``: all of its stage."""

    @property
    def writer(self) -> str | None:
        """Its generation."""

    def export(self, source: Path, target: Path) -> Result:
        """Export ``source`` into ``target``, which is an empty folder."""

    def close(self) -> None:
        """End whatever still runs."""


_HOW: Mapping[Way, How] = {
    "ended": "done",
    "failed": "failed",
    "crashed": "crashed",
    "hung": "hung",
}


def result_of(ended: Ended) -> Result:
    """How an export ended whose command ended so."""
    return Result(_HOW[ended.way], ended.words)


@dataclass(frozen=True)
class Function:
    """An exporter that is a function of this process, called with source and target."""

    name: str
    run: Callable[[Path, Path], object]
    features: frozenset[str] | None = None
    writer: str | None = None

    @property
    def text(self) -> str:
        """Its name."""
        return self.name

    def export(self, source: Path, target: Path) -> Result:
        """Call it; an exception is a crash."""
        try:
            self.run(source, target)
        except Exception as problem:
            return Result("crashed", describe(problem))
        return Result("done")

    def close(self) -> None:
        """Nothing is left of a call."""


@dataclass(frozen=True)
class Template:
    """A command with ``{in}`` and ``{out}`` for the folders, run anew for each export."""

    text: str
    limits: Limits
    features: frozenset[str] | None = None
    writer: str | None = None

    @property
    def name(self) -> str:
        """The program, without its folder."""
        return called(shlex.split(self.text))

    def export(self, source: Path, target: Path) -> Result:
        """Run the command in ``target``."""
        places = {"{in}": str(source), "{out}": str(target)}
        return result_of(run(filled(words_of(self.text), places), target, self.limits))

    def close(self) -> None:
        """Nothing is left of a command that has ended."""


def words_of(command: str) -> list[str]:
    """The words of a command; files of this folder by their whole path, as it runs in another."""
    first, *others = shlex.split(command)
    return [
        program_of(first) or first,
        *(str(Path(one).absolute()) if Path(one).is_file() else one for one in others),
    ]


def program_of(name: str) -> str | None:
    """The whole path of a program: of the environment of this one, where PATH has none."""
    found = shutil.which(name) or shutil.which(name, path=sysconfig.get_path("scripts"))
    return found and str(Path(found).absolute())


def filled(words: list[str], places: Mapping[str, str]) -> list[str]:
    """The words of a template with the folders in them."""
    made = []
    for one in words:
        word = one
        for mark, path in places.items():
            word = word.replace(mark, path)
        made.append(word)
    return made


def called(words: list[str]) -> str:
    """A command by the first word that is a file or module of the exporter."""
    named = next((one for one in words if one.endswith((".py", ".sh", ".js"))), words[0])
    return Path(named).name


@dataclass(frozen=True)
class _Cluster:
    """msprof-analyze, which analyses the profiles in a folder, and may write there."""

    program: Path
    limits: Limits
    text: str = "msprof-analyze"
    name: str = "msprof-analyze"
    features: frozenset[str] | None = None
    writer: str | None = None

    def run(self, mode: str, profiles: Path, results: Path, place: Path) -> Result:
        """Run one of its modes in a folder."""
        command = [str(self.program), "cluster", "-m", mode, "--force"]
        command += ["-d", str(profiles), "-o", str(results)]
        return result_of(run(command, place, self.limits))

    def close(self) -> None:
        """Nothing is left of a command that has ended."""


@dataclass(frozen=True)
class MsprofAnalyze(_Cluster):
    """Its mode export_summary, which writes two files into the profile itself."""

    features: frozenset[str] | None = frozenset(("kernel_details", "api_statistic"))

    def export(self, source: Path, target: Path) -> Result:
        """Run it on a copy, and take what it has written."""
        cluster = target / "cluster"
        copied = cluster / source.name
        shutil.copytree(source, copied)
        ended = self.run("export_summary", cluster, target / "results", target)
        for name in sorted(self.features or ()):
            for path in copied.rglob(f"{name}.csv"):
                shutil.move(path, target / path.name)
        shutil.rmtree(cluster)
        shutil.rmtree(target / "results", ignore_errors=True)
        return ended


@dataclass(frozen=True)
class ClusterAnalysis(_Cluster):
    """Its mode all, which writes cluster_analysis.db of the ranks in a folder."""

    def export(self, source: Path, target: Path) -> Result:
        """Run it on a copy, and take the folder that it makes."""
        copied = target / "ranks"
        shutil.copytree(source, copied)
        ended = self.run("all", copied, target, target)
        shutil.rmtree(copied)
        return ended


@dataclass(frozen=True)
class Msprof:
    """msprof from a checkout of its sources, in Python alone, which writes into the raw folder.

    script: ``analysis/msprof/msprof.py``. Its exit code is 0 whatever happens (raw-prof 1), so that
    what it has written is all that counts.
    """

    script: Path
    limits: Limits
    text: str
    name: str = "msprof"
    writer: str | None = "python"
    features: frozenset[str] | None = frozenset(
        (
            "ai_core_utilization",
            "ai_cpu_pmu_events",
            "ai_cpu_top_function",
            "ai_vector_core_utilization",
            "aicpu",
            "aicpu_mi",
            "api_statistic",
            "communication_statistic",
            "cpu_usage",
            "ctrl_cpu_pmu_events",
            "ctrl_cpu_top_function",
            "dp",
            "dvpp",
            "fusion_op",
            "hbm",
            "hccs",
            "host_cpu_usage",
            "host_disk_usage",
            "host_mem_usage",
            "host_network_usage",
            "l2_cache",
            "llc_read_write",
            "msprof_tx",
            "nic",
            "npu_mem",
            "npu_module_mem",
            "op_statistic",
            "op_summary",
            "operator_memory",
            "pcie",
            "process_cpu_usage",
            "process_mem",
            "roce",
            "soc_pmu",
            "static_op_mem",
            "step_trace",
            "sys_mem",
            "task_time",
            "timeline",
            "ts_cpu_pmu_events",
            "ts_cpu_top_function",
        )
    )

    def export(self, source: Path, target: Path) -> Result:
        """Run it on a copy, and take what it has written."""
        copied = target / source.name
        shutil.copytree(source, copied)
        for kind in ("summary", "timeline"):
            words = [sys.executable, str(self.script), "export", kind, "-dir", str(copied)]
            ended = result_of(run(words, target, self.limits))
            if ended.how != "done":
                return ended
        for path in copied.joinpath("mindstudio_profiler_output").glob("*.*"):
            shutil.move(path, target / path.name)
        shutil.rmtree(copied)
        return Result("done")

    def close(self) -> None:
        """Nothing is left of a command that has ended."""
