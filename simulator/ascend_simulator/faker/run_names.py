"""The names of one simulated run: of its hosts, its user, its folders and its processes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from faker import Generator

from .provider import AscendProvider

PROJECT, PACKAGES = "{project}", "{packages}"
"""What frames of the modelled programs have in place of the folders of a run."""


@dataclass(frozen=True, slots=True)
class RunNames:
    """What all ranks of a run share.

    rack: first part of the names of its hosts. project: folder of the program. packages: folder of
    the installed Python packages. process: name of the profiled process. daemons: names of other
    processes of each host.
    """

    seed: int
    rack: str
    project: str
    packages: str
    process: str
    daemons: tuple[str, ...]

    def host(self, number: int) -> tuple[str, int]:
        """Name and uid of a host of the run, counted from 0."""
        return f"{self.rack}-n{number + 1:02d}", _names(self.seed, number + 1).npu_host_uid()

    def frame(self, text: str) -> str:
        """A frame with the folders of this run."""
        return text.replace(PROJECT, self.project).replace(PACKAGES, self.packages)


@cache
def run_names(seed: int) -> RunNames:
    """The names of the run with a seed."""
    names = _names(seed, 0)
    return RunNames(
        seed,
        names.npu_rack(),
        names.npu_project_folder(),
        names.npu_package_folder(),
        names.npu_process(),
        names.npu_daemons(),
    )


def _names(seed: int, stream: int) -> AscendProvider:
    generator = Generator()
    generator.seed_instance(f"ascend-ref {seed} {stream}")
    return AscendProvider(generator)
