"""Sequences of calls, drawn by Hypothesis and shrunk; needs the extra ``strategies``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ascend_simulator.ge.life_cycle import (
    Call,
    CreateConfig,
    DestroyConfig,
    Environment,
    Finalize,
    Init,
    LifeCycle,
    Start,
    Stop,
)
from ascend_spec import ge_catalog
from ascend_spec.ge import supported_mask

from .judging import Judged, judge_call, judge_end
from .trials import Calls, Trials

STEPS = 14
"""Most calls of a sequence."""
FEW = 3
"""Configurations that are there at once."""
WORD = 0xFFFFFFFF
PATH = "data"


class _Differs(Exception):
    """An implementation does not answer as the model."""


def find_difference(
    trials: Trials, life_cycle: LifeCycle, examples: int, number: int
) -> Judged | None:
    """The shortest sequence of calls found that is not answered as by the model, else ``None``.

    ``examples``: sequences that are drawn, the same ones for the same ``number``.
    """
    found: list[Judged] = []
    machine = seed(number)(_machine(trials, life_cycle, found.append))
    settled = settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        database=None,
        deadline=None,
        verbosity=Verbosity.quiet,
        print_blob=False,
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    try:
        run_state_machine_as_test(machine, settings=settled)
    except _Differs:
        return found[-1]
    return None


def _machine(
    trials: Trials, life_cycle: LifeCycle, keep: Callable[[Judged], object]
) -> type[RuleBasedStateMachine]:
    environment = life_cycle.environment

    class Calling(RuleBasedStateMachine):
        """Makes calls of the model and of the implementation alike."""

        def __init__(self) -> None:
            super().__init__()
            self.calls: Calls = ()
            self.judged = Judged()
            self.profiling = life_cycle.begin()
            self.is_over = False

        def make(self, call: Call) -> None:
            """Make a call, and compare what it returns."""
            calls = (*self.calls, call)
            if self.is_over or not trials.can_try(calls):
                self.is_over = True
                return
            self.calls = calls
            after, expected = life_cycle.respond(self.profiling, call)
            self.judged = judge_call(self.judged, call, expected, after, trials.heard(calls))
            self.profiling = after
            self.fail_where_it_differs()

        def fail_where_it_differs(self) -> None:
            if self.judged.problem is not None:
                self.is_over = True
                keep(with_end(self.judged, trials, self.calls))
                raise _Differs

        def pick(self, number: int) -> int:
            """One of the configurations that are there."""
            known = sorted(self.profiling.configurations)
            return known[number % len(known)]

        @rule()
        def init(self) -> None:
            self.make(Init(PATH, len(PATH)))

        @precondition(lambda self: self.profiling.configurations)
        @rule(number=st.integers(0, FEW - 1))
        def start(self, number: int) -> None:
            self.make(Start(self.pick(number)))

        @precondition(lambda self: self.profiling.configurations)
        @rule(number=st.integers(0, FEW - 1))
        def stop(self, number: int) -> None:
            self.make(Stop(self.pick(number)))

        @rule()
        def finalize(self) -> None:
            self.make(Finalize())

        @rule(number=st.integers(0, FEW - 1), is_stop=st.booleans())
        def go_on(self, number: int, is_stop: bool) -> None:
            """The next call of a usual order: most draws without it go nowhere."""
            if not self.profiling.configurations:
                self.make(CreateConfig(self.number(), (0,), 1, 0, usual_bits()))
            elif self.profiling.state == "OFF":
                self.init()
            elif self.profiling.state == "IDLE":
                self.make(Start(self.pick(number)))
            else:
                self.make(Stop(self.pick(number)) if is_stop else Finalize())

        @rule(number=st.integers(0, FEW - 1), is_stop=st.booleans())
        def go_on_again(self, number: int, is_stop: bool) -> None:
            """The same, so that it is drawn more often."""
            self.go_on(number, is_stop)

        @precondition(lambda self: len(self.profiling.configurations) < FEW)
        @rule(given=st.tuples(device_lists(environment), metrics(), bits()))
        def create(self, given: tuple[tuple[int, ...], int, int]) -> None:
            devices, group, types = given
            self.make(CreateConfig(self.number(), devices, len(devices), group, types))

        @rule(devices=wrong_device_lists(environment))
        def create_wrong(self, devices: tuple[int, ...] | None) -> None:
            count = 1 if devices is None else len(devices)
            self.make(CreateConfig(self.number(), devices, count, 0, usual_bits()))

        @rule(given=wrong_paths())
        def init_wrong(self, given: tuple[str | None, int]) -> None:
            self.make(Init(*given))

        @rule(is_null=st.booleans(), number=st.integers(0, FEW - 1))
        def destroy(self, is_null: bool, number: int) -> None:
            known = self.profiling.configurations
            self.make(DestroyConfig(None if is_null or not known else self.pick(number)))

        def number(self) -> int:
            """A number for a configuration that was not there before."""
            return 1 + sum(isinstance(one, CreateConfig) for one in self.calls)

        def teardown(self) -> None:
            if not self.is_over and trials.late == 0:
                self.judged = judge_end(self.judged, trials.ended(self.calls))
                self.fail_where_it_differs()

    return Calling


def with_end(judged: Judged, trials: Trials, calls: Calls) -> Judged:
    """A wrong answer, or the line too many that was taken for one."""
    is_answer = judged.problem is not None and judged.problem.kind in ("returns", "collecting")
    return judge_end(judged, trials.ended(calls)) if is_answer else judged


def device_lists(environment: Environment) -> st.SearchStrategy[tuple[int, ...]]:
    """Lists of devices that the machine has."""
    known = [(0,), (1,), (0, 1), (1, 0)]
    return st.sampled_from([one for one in known if max(one) < environment.devices])


def wrong_device_lists(environment: Environment) -> st.SearchStrategy[tuple[int, ...] | None]:
    """Lists of devices that no configuration may have."""
    most = ge_catalog().functions[CreateConfig.function].check("device-count").most or 0
    beyond = (environment.devices,)
    return st.sampled_from([None, (), (0, 0), beyond, tuple(range(most + 1)), (WORD,)])


def metrics() -> st.SearchStrategy[int]:
    """Groups of metrics: those of the chip, and others."""
    return st.sampled_from([0, 1, 6, 7, 255])


def usual_bits() -> int:
    """The bits that are tried first: tasks with launches alone."""
    return ge_catalog().data_types["TASK_TIME"].mask


def bits() -> st.SearchStrategy[int]:
    """Bits of data, most of them such as a start takes."""
    types = ge_catalog().data_types
    supported = supported_mask(types.values())
    single = [one.mask for one in types.values() if one.standing == "public"]
    outside = [one.mask for one in types.values() if one.standing == "outside"]
    first = usual_bits()
    return st.one_of(
        st.just(first),
        st.sampled_from([*single, 0]),
        st.integers(0, supported).map(lambda drawn: drawn & supported),
        st.sampled_from(outside).map(lambda one: one | first),
    )


def wrong_paths() -> st.SearchStrategy[tuple[str | None, int]]:
    """Paths and lengths, most of which are refused."""
    checks = ge_catalog().functions[Init.function]
    most = checks.check("path-length").most or 0
    known: list[tuple[Any, int]] = [
        (None, 0),
        ("", 0),
        (PATH, len(PATH) - 1),
        (PATH, len(PATH) + 1),
        ("a" * most, most),
        ("a" * (most + 1), most + 1),
        ("é", 2),
        ("é", 1),
    ]
    refused = [(f"a{one}b", 3) for one in sorted(checks.check("path-characters").characters)]
    return st.sampled_from([*known, *refused])
