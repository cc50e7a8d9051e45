"""From a kernel's scenario to blocks in memory, or to a file with its truth on disk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ascend_ref.atomic import staged
from ascend_ref.bin import Block, write_file

from ..documents.text import ScenarioError
from .blocks.file import File
from .choices import KernelScenario
from .scenario import validate
from .truth import kernel_truth
from .world import run

FILE = "visualize_data.bin"
TRUTH = "truth.json"
SEEDS = 1 << 63


class KernelRun(File):
    """A kernel that ran; its blocks and its truth are made when they are asked for."""

    @cached_property
    def truth(self) -> dict[str, Any]:
        """What is true of the run, as truth.json holds it."""
        return kernel_truth(self.report)


@dataclass(frozen=True, slots=True)
class Written:
    """What was written. blocks: number of them; size: Byte of the file."""

    file: Path
    truth: Path
    blocks: int
    size: int


def simulate_kernel(scenario: KernelScenario, seed: int = 0) -> KernelRun:
    """Run the kernel of a scenario. Raises :class:`ScenarioError` for an impossible one."""
    if not 0 <= seed < SEEDS:
        raise ScenarioError(f"seed is {seed}; expected an integer from 0 to {SEEDS - 1}")
    return KernelRun(run(validate(scenario, scenario.name), seed))


def write_kernel(scenario: KernelScenario, folder: Path | str, seed: int = 0) -> Written:
    """Run a kernel and write its file and truth.json into the new ``folder``.

    The folder appears complete or not at all, and the same scenario and seed always give the same
    bytes. Raises :class:`ScenarioError`, ``FileExistsError`` where the folder exists, ``OSError``.
    """
    found, target = simulate_kernel(scenario, seed), Path(folder)
    count = 0

    def counted() -> Iterator[Block]:
        nonlocal count
        for block in found.blocks():
            count += 1
            yield block

    with staged(target) as draft:
        write_file(draft / FILE, counted())
        size = (draft / FILE).stat().st_size
        text = json.dumps(found.truth, indent=1) + "\n"
        (draft / TRUTH).write_text(text, encoding="utf-8")
    return Written(target / FILE, target / TRUTH, count, size)
