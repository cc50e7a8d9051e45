"""The Profiler from start to analysis, as figure 3 of the document has it: M5, M6, M11 to M15.

A plain record of what was called, by day, is the truth; implementations that are wrong in one way
each are found by the same machine.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from mindspore_captures import hwts_record
from slices import some
from step_captures import trace_bytes

from ascend_simulator.mindspore.life_cycle import (
    Analysed,
    Clock,
    Collector,
    Controller,
    Profiler,
    WrongOrder,
    cut_capture,
)
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import transition_on

ONCE, OFTEN, LENIENT = "2022-01-01", "2024-03-01", "2025-02-01"
"""A Profiler records once and refuses; records often and refuses; records often and ignores."""

STEP, STEPS = 1000, 40
OPERATORS = {1: "Default/net/Cast-op1", 2: "Default/net/MatMul-op2", 3: "Gradients/net/Add-op3"}
FIRST_TICK = 5_000_000
END = FIRST_TICK + STEP * STEPS


@dataclass(frozen=True)
class Execution:
    task: int
    start: int
    end: int


def executions() -> list[Execution]:
    """Three in each step, each time of another length."""
    return [
        Execution(task, begin, begin + 50 + 7 * step + task)
        for step in range(STEPS)
        for task in OPERATORS
        for begin in [FIRST_TICK + step * STEP + 100 + 300 * (task - 1)]
    ]


def points() -> list[tuple[int, int]]:
    """Tags of start, forward start, backward end and end of each step, with their times."""
    return [
        (tag, FIRST_TICK + step * STEP + place)
        for step in range(STEPS)
        for tag, place in ((10_010, 10), (1, 90), (2, 950), (255, 990))
    ]


def write_run(folder: Path) -> Path:
    """The raw files of the whole run."""
    folder.mkdir()
    lines = "".join(f"{name} 8 {task} 3\n" for task, name in OPERATORS.items())
    (folder / "Framework.host.vm.task_desc_info.0.slice_0").write_text(lines)
    graph = "".join(f"op_name:{name} op_type:Op\n" for name in OPERATORS.values())
    (folder / "Framework.host.vm.graph_desc_info.0.slice_0").write_text(graph)
    ends = [(kind, one) for one in executions() for kind in (0, 1)]
    log = [
        hwts_record(kind, 3, one.task, one.end if kind else one.start, place)
        for place, (kind, one) in enumerate(ends)
    ]
    tag = "profiler_default_tag"
    for number, part in enumerate((log[:100], log[100:])):
        (folder / f"hwts.log.data.45.dev.{tag}.0.slice_{number}").write_bytes(b"".join(part))
    trace = trace_bytes([(tag, 9, 5, time) for tag, time in points()])
    (folder / f"training_trace.46.dev.{tag}.0.slice_0").write_bytes(trace)
    return folder


class LifeCycle(RuleBasedStateMachine):
    """Calls in any order, against what was called."""

    profiler_class: type[Profiler] = Profiler
    collector_class: type[Collector] = Collector
    run: Path

    @initialize(day=st.sampled_from([ONCE, OFTEN, LENIENT]), begins=st.booleans())
    def make(self, day: str, begins: bool) -> None:
        self.place = Path(self.enter(tempfile.TemporaryDirectory()))
        self.day = day
        self.clock = Clock(FIRST_TICK)
        source = partial(cut_capture, self.run)
        collector = self.collector_class(source, self.clock, self.place / "jobs")
        self.profiler = self.profiler_class(
            Controller(collector), self.place / "out", day, generation="G1", start_profile=begins
        )
        self.since = self.clock.now if begins else None
        self.recordings: list[tuple[int, int]] = []
        self.is_analysed = False

    def enter(self, context: Any) -> Any:
        self.context = context
        return context.__enter__()

    def teardown(self) -> None:
        if hasattr(self, "context"):
            self.context.__exit__(None, None, None)

    @rule(ticks=st.one_of(st.integers(0, 3 * STEP), st.just(STEP)))
    def train(self, ticks: int) -> None:
        self.clock.advance(min(ticks, max(END - self.clock.now, 0)))

    @rule()
    def start(self) -> None:
        never = self.day == ONCE and bool(self.recordings)
        if self.call(self.profiler.start, is_legal=self.since is None and not never):
            self.since = self.clock.now
            self.is_analysed = False

    @rule()
    def stop(self) -> None:
        if self.call(self.profiler.stop, is_legal=self.since is not None):
            self.end()

    @rule()
    def analyse(self) -> None:
        answers: list[Analysed | None] = []
        done = self.is_analysed and self.day == LENIENT
        is_legal = self.since is not None or (bool(self.recordings) and not done)
        if self.call(lambda: answers.append(self.profiler.analyse()), is_legal=is_legal):
            if self.since is not None:
                self.end()
            self.is_analysed = True
            assert answers[0] is not None
            check(answers[0], *self.recordings[-1])
        else:
            assert answers in ([], [None])

    def end(self) -> None:
        assert self.since is not None
        self.recordings.append((self.since, self.clock.now))
        self.since = None

    def call(self, made: Callable[[], object], *, is_legal: bool) -> bool:
        """Whether the call is one that is carried out; else it is refused or ignored by the day."""
        lines = len(self.profiler.log)
        try:
            made()
        except WrongOrder:
            assert not is_legal
            assert self.day != LENIENT
            return False
        assert is_legal or self.day == LENIENT
        assert len(self.profiler.log) == lines + (not is_legal)
        return is_legal

    @invariant()
    def raw_files_are_those_of_the_recordings(self) -> None:
        if not hasattr(self, "recordings"):
            return
        jobs = sorted((self.place / "jobs").glob("JOB*"))
        assert len(jobs) == len(self.recordings)
        for job, (start, stop) in zip(jobs, self.recordings, strict=True):
            log = [path.stat().st_size for path in job.glob("hwts*")]
            times = [time for one in executions() for time in (one.start, one.end)]
            assert sum(log) == 64 * sum(start <= time < stop for time in times)


def check(answer: Analysed, start: int, stop: int) -> None:
    """What was analysed is what happened while it was recorded."""
    inside = [one for one in executions() if start <= one.start and one.end < stop]
    expected = {}
    for task, name in OPERATORS.items():
        own = [one.end - one.start for one in inside if one.task == task]
        if own:
            expected[name.rpartition("/")[2]] = sum(own) / len(own) / 100  # us
    detail = answer.operators["aicore_detail"]
    name, time = (detail["col_name"].index(one) for one in ("op_name", "avg_execution_time"))
    found = {row[name]: row[time] for row in detail["object"]}
    assert found == pytest.approx(expected, rel=1e-3)
    assert answer.steps["size"] == whole_steps(start, stop)


def whole_steps(start: int, stop: int) -> int:
    times = [time for _, time in points()]
    steps = (times[place : place + 4] for place in range(0, len(times), 4))
    return sum(start <= step[0] and step[-1] < stop for step in steps)


RUNS = settings(
    max_examples=60,
    stateful_step_count=20,
    phases=[Phase.generate],
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("run") / "JOB")


def machine(run: Path, **classes: type) -> type[LifeCycle]:
    return type("Machine", (LifeCycle,), {"run": run, **classes})


@pytest.mark.exhaustive
def test_m5_m6_calls_in_any_order_do_what_they_did_on_the_day(run: Path) -> None:
    run_state_machine_as_test(machine(run), settings=RUNS)


# --- implementations that are wrong ---------------------------------------------------------------


class RecordsAfterStop(Collector):
    """Its files hold what happened after the command to stop as well."""

    def stop(self) -> Path | None:
        before = self._clock.now
        self._clock.now = END
        try:
            return super().stop()
        finally:
            self._clock.now = before


class RecordsBeforeStart(Collector):
    """Its buffer is not emptied before it starts."""

    def start(self) -> None:
        super().start()
        self._since = FIRST_TICK


class BeginsAgain(Collector):
    """A second command to start throws away what was recorded."""

    def start(self) -> None:
        self._since = self._clock.now


class SendsAlways(Profiler):
    """Commands go to the collector before it is looked at whether they may."""

    def start(self) -> None:
        self._controller.start()
        super().start()


class AnswersOld(Profiler):
    """While a recording goes on, the last answer is returned again."""

    last: Analysed | None = None

    def analyse(self) -> Analysed | None:
        if self.state == "recording" and self.last is not None:
            self._controller.stop()
            self.state = "analysed"
            return self.last
        self.last = super().analyse() or self.last
        return self.last


class GoesOn(Profiler):
    """The analysis does not stop the recording, and takes an older one."""

    def analyse(self) -> Analysed | None:
        if self.state == "recording" and self._controller.jobs:
            self.state = "stopped"
        return super().analyse()


class RefusesNothing(Profiler):
    """Wrong calls are accepted without a word."""

    def stop(self) -> None:
        if self.state == "recording":
            super().stop()


BROKEN: Sequence[dict[str, type]] = [
    {"collector_class": RecordsAfterStop},
    {"collector_class": RecordsBeforeStart},
    {"collector_class": BeginsAgain, "profiler_class": SendsAlways},
    {"profiler_class": AnswersOld},
    {"profiler_class": GoesOn},
    {"profiler_class": RefusesNothing},
]


@pytest.mark.parametrize(
    "classes", some(BROKEN, every=3), ids=lambda one: one[list(one)[-1]].__name__
)
def test_m6_wrong_implementations_are_found(run: Path, classes: dict[str, type]) -> None:
    with pytest.raises(AssertionError):
        run_state_machine_as_test(
            machine(run, **classes), settings=settings(RUNS, max_examples=600)
        )


def test_m6_the_newest_recording_is_analysed_from_its_first_command_on(
    run: Path, tmp_path: Path
) -> None:
    clock = Clock(FIRST_TICK)
    collector = Collector(partial(cut_capture, run), clock, tmp_path / "jobs")
    profiler = Profiler(Controller(collector), tmp_path / "out", LENIENT, generation="G1")
    clock.advance(2 * STEP)
    profiler.stop()
    profiler.start()
    since = clock.now
    clock.advance(2 * STEP)
    collector.start()
    clock.advance(3 * STEP)
    profiler.stop()
    answer = profiler.analyse()
    assert answer is not None
    check(answer, since, clock.now)
    assert answer.steps["size"] == 5


# --- the order of the document --------------------------------------------------------------------


def test_m11_m12_m13_m14_m15_the_order_of_figure_3(run: Path, tmp_path: Path) -> None:
    """Control, collection, the analysis after training: parsers, files, analysers, results."""
    clock = Clock(FIRST_TICK)
    collector = Collector(lambda *times: cut_capture(run, *times), clock, tmp_path / "jobs")
    profiler = Profiler(Controller(collector), tmp_path / "out", LENIENT, start_profile=False)
    clock.advance(3 * STEP)
    profiler.start()
    clock.advance(4 * STEP)
    assert not (tmp_path / "jobs").exists()
    profiler.stop()
    clock.advance(STEP)
    (job,) = (tmp_path / "jobs").iterdir()
    assert job.name == "JOBAAAAAAAAAB"
    assert not (tmp_path / "out").exists()
    answer = profiler.analyse()
    assert answer is not None
    check(answer, FIRST_TICK + 3 * STEP, FIRST_TICK + 7 * STEP)
    assert answer.steps["size"] == 4
    assert answer.steps["summary"]["total_steps"] == 4
    assert answer.operators["aicore_type"]["size"]
    names = {path.name for path in answer.folder.iterdir()}
    assert {"output_op_compute_time_0.txt", "step_trace_raw_0_detail_time.csv"} <= names
    assert profiler.analyse() is None
    assert profiler.log == ["analyse: Nothing is left to be analysed."]


def test_m15_an_analysis_stops_what_is_being_recorded(run: Path, tmp_path: Path) -> None:
    clock = Clock(FIRST_TICK)
    collector = Collector(lambda *times: cut_capture(run, *times), clock, tmp_path / "jobs")
    profiler = Profiler(Controller(collector), tmp_path / "out", ONCE)
    clock.advance(2 * STEP)
    answer = profiler.analyse()
    assert answer is not None
    assert answer.steps["size"] == 2
    with pytest.raises(WrongOrder, match=r"start: A Profiler records once\."):
        profiler.start()


def test_m86_each_missing_figure_is_named() -> None:
    claims = " ".join(claim for _, claim in mindspore_catalog().errata["M46"].says)
    for figure in ("context", "modules", "order", "parsers", "analysers", "proposers"):
        assert figure in claims


def test_m5_each_call_has_one_verdict_on_each_day() -> None:
    known = mindspore_catalog().life_cycle
    edges = ("2021-12-01", "2024-02-06", "2024-02-07", "2024-11-12", "2024-11-13")
    for day in (*edges, ONCE, OFTEN, LENIENT):
        for call in ("start", "stop", "analyse"):
            for state in ("idle", "recording", "stopped", "analysed"):
                found = [
                    one
                    for one in known
                    if (one.call, one.state) == (call, state)
                    and (one.since or "") <= day < (one.until or "9")
                ]
                assert len(found) == 1, (day, call, state)
                assert found[0] == transition_on(known, call, state, day)
                assert found[0].verdict == "done" or found[0].then == state
    with pytest.raises(KeyError, match="expected 2021-12-01 or later"):
        transition_on(known, "start", "idle", "2021-11-30")
