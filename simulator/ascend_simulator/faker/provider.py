"""A provider for Faker: names as they stand in profiles of Ascend NPUs, and those of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, cast

import msgspec
from faker import Generator
from faker.providers import BaseProvider

from ascend_spec.core import packaged

Word = TypeVar("Word")


class Operator(msgspec.Struct, frozen=True):
    """An operator of the framework, and the kernel that it starts.

    framework: ``aten::mm``. api: function of CANN (``aclnnMatmul``). kernel: middle part of the
    kernel's name. type: what becomes ``COMPUTE_TASK_INFO.opType``.
    """

    framework: str
    api: str
    kernel: str
    type: str


class AscendProvider(BaseProvider):
    """Names of hosts, users, processes, operators, kernels, groups, call stacks and marks.

    ``Faker().add_provider(AscendProvider)`` adds the methods to any Faker. Every word comes from
    ``vocabulary.yaml`` next to this module and every draw from 32 random bits of the generator, so
    that a seed gives the same names with any release of Faker.
    """

    def npu_rack(self) -> str:
        """First part of the names of neighbouring hosts, such as ``atlas-r03``."""
        return f"{self._word('sites')}-r{self._number(1, 16):02d}"

    def npu_host_name(self) -> str:
        """Name of a host, such as ``atlas-r03-n12``."""
        return f"{self.npu_rack()}-n{self._number(1, 32):02d}"

    def npu_host_uid(self) -> int:
        """What becomes ``HOST_INFO.hostUid``: a number of 62 bits."""
        return self._bits() << 30 | self._bits() >> 2

    def npu_user(self) -> str:
        """Account that runs the program."""
        return self._word("users")

    def npu_project_folder(self) -> str:
        """Folder of the program, below the home folder of a user."""
        return f"/home/{self.npu_user()}/{self._word('projects')}"

    def npu_package_folder(self) -> str:
        """Folder of the installed Python packages."""
        return self._word("packages")

    def npu_process(self) -> str:
        """Name of the profiled process."""
        return self._word("processes")

    def npu_daemons(self, count: int = 3) -> tuple[str, ...]:
        """Names of other processes of a host, each once; no more than there are."""
        names = list(self._words("daemons"))
        return tuple(
            names.pop(self._number(0, len(names) - 1)) for _ in range(min(count, len(names)))
        )

    def npu_operator(self) -> Operator:
        """An operator with its API, kernel and type, which belong together."""
        return self._pick(_operators())

    def npu_operator_name(self) -> str:
        """Operator of the framework, such as ``aten::mm``."""
        return self.npu_operator().framework

    def npu_kernel_name(self) -> str:
        """Kernel, such as ``aclnnMatmul_MatMulCommon_MatMulV2``; it ends with its type."""
        operator = self.npu_operator()
        return f"{operator.api}_{operator.kernel}_{operator.type}"

    def npu_group_name(self) -> str:
        """Purpose of a communication group, such as ``dp``."""
        return self._word("groups")

    def npu_collective_name(self) -> str:
        """Communication operator, such as ``hcom_allReduce__865_0_1``."""
        kind, group = self._word("collectives"), self._number(0, 999)
        return f"hcom_{kind}__{group:03d}_{self._number(0, 99)}_1"

    def npu_module(self) -> str:
        """Class of a module of a network."""
        return self._word("modules")

    def npu_frame(self) -> str:
        """One frame of Python, such as ``/home/li/vision/train.py(41): step``."""
        where = f"{self.npu_project_folder()}/{self._word('files')}"
        return f"{where}({self._number(1, 2_000)}): {self._word('functions')}"

    def npu_call_stack(self, depth: int = 4) -> tuple[str, ...]:
        """Frames of one program, the innermost first; ``depth`` of them."""
        folder = self.npu_project_folder()
        return tuple(
            f"{folder}/{self._word('files')}({self._number(1, 2_000)}): {self._word('functions')}"
            for _ in range(depth)
        )

    def npu_range(self) -> str:
        """Message of an mstx range."""
        return self._word("ranges")

    def npu_domain(self) -> str:
        """Domain of an mstx range."""
        return self._word("domains")

    def npu_text(self, words: int = 6) -> str:
        """A stream of words, for texts that mean nothing."""
        return " ".join(self._word("words") for _ in range(words))

    def _bits(self) -> int:
        return int(self.generator.random.getrandbits(32))

    def _number(self, smallest: int, largest: int) -> int:
        return smallest + (self._bits() * (largest - smallest + 1) >> 32)

    def _pick(self, words: Sequence[Word]) -> Word:
        return words[self._number(0, len(words) - 1)]

    def _words(self, kind: str) -> Sequence[str]:
        return cast(Sequence[str], vocabulary()[kind])

    def _word(self, kind: str) -> str:
        return self._pick(self._words(kind))


def vocabulary() -> Mapping[str, Any]:
    """The words by kind."""
    return cast(Mapping[str, Any], packaged(__package__, "vocabulary.yaml"))


@cache
def _operators() -> tuple[Operator, ...]:
    return msgspec.convert(vocabulary()["operators"], tuple[Operator, ...])


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
