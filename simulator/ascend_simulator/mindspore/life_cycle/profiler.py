"""The Profiler that a training script calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ascend_ref.mindspore.analyse.factory import load_analyser
from ascend_ref.mindspore.analyse.files import INNER, open_folder
from ascend_ref.mindspore.parse.parse import parse
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import Transition, transition_on
from ascend_spec.mindspore.life_cycle import Call, State

from .controller import Controller

OPERATORS = ("aicore_type", "aicore_detail", "aicpu_type", "aicpu_detail")
STEPS = "step_trace"


class WrongOrder(RuntimeError):
    """A call that the Profiler refuses after what was called before; the text says why."""


@dataclass(frozen=True, slots=True)
class Analysed:
    """What the analysis returns, read from the intermediate files in ``folder`` alone.

    ``operators``: the performance of operators, the answers of analysers by name; ``steps``: the
    time of each part of a step.
    """

    folder: Path
    operators: Mapping[str, Mapping[str, Any]]
    steps: Mapping[str, Any]


class Profiler:
    """What MindSpore's Profiler does on a day (ISO, from 2021-12-01 on) when it is called.

    ``output``: gets a folder of intermediate files from each analysis. ``generation``: which
    parsers make them, an id or a day; by default found from the raw files. With ``start_profile``
    it starts when it is made. Calls are refused with :class:`WrongOrder`, or ignored with a line in
    ``log``, as the spec has it of the day.
    """

    def __init__(
        self,
        controller: Controller,
        output: Path,
        day: str,
        *,
        generation: str | None = None,
        start_profile: bool = True,
    ) -> None:
        self._controller = controller
        self._output = output
        self._day = day
        self._generation = generation
        self._analyses = 0
        self.state: State = "idle"
        self.log: list[str] = []
        if start_profile:
            self.start()

    def start(self) -> None:
        """Record from now on."""
        asked = self._ask("start")
        if asked.verdict == "done":
            self._controller.start()
        self.state = asked.then

    def stop(self) -> None:
        """Record no more."""
        asked = self._ask("stop")
        if asked.verdict == "done":
            self._controller.stop()
        self.state = asked.then

    def analyse(self) -> Analysed | None:
        """Parse the newest recording, and ask analysers; ``None`` where the call is ignored.

        A recording that goes on is stopped first. Raises as :func:`parse` does.
        """
        asked = self._ask("analyse")
        if asked.verdict == "ignored":
            return None
        if self.state == "recording":
            self._controller.stop()
        found = self._analysed(self._controller.jobs[-1])
        self.state = asked.then
        return found

    def _ask(self, call: Call) -> Transition:
        asked = transition_on(mindspore_catalog().life_cycle, call, self.state, self._day)
        if asked.verdict == "refused":
            raise WrongOrder(f"{call}: {asked.summary}")
        if asked.verdict == "ignored":
            self.log.append(f"{call}: {asked.summary}")
        return asked

    def _analysed(self, job: Path) -> Analysed:
        """Folders are named so that the viewer takes the newest."""
        self._analyses += 1
        folder = self._output / f"{INNER}-{self._analyses:04d}"
        parse(job, folder, self._generation)
        files = open_folder(folder)
        operators = {name: load_analyser(name, files).query() for name in OPERATORS}
        return Analysed(folder, operators, load_analyser(STEPS, files).query())
