"""Sequences of calls, drawn by Hypothesis and shrunk; needs the extra ``strategies``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
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
METRICS = (0, 1, 6, 7, 255)
"""Groups of metrics, of which the chip has some."""
PATH = "data"


class _Differs(Exception):
    """An implementation does not answer as the model."""


def find_difference(
    trials: Trials, life_cycle: LifeCycle, examples: int, number: int, most: int = STEPS
) -> Judged | None:
    """A sequence of calls that is not answered as by the model, shrunk; ``None`` where none is.

    ``examples``: sequences that are drawn, the same ones for the same ``number``. ``most``: calls
    of one.
    """
    found: list[Judged] = []
    machine = seed(number)(_machine(trials, life_cycle, most, found.append))
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
    trials: Trials, life_cycle: LifeCycle, most: int, keep: Callable[[Judged], object]
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
            if self.is_over or len(calls) > most or not trials.can_try(calls):
                self.is_over = True
                return
            self.calls = calls
            after, expected = life_cycle.respond(self.profiling, call)
            self.judged = judge_call(self.judged, call, expected, after, trials.answer(calls))
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

        @initialize(given=configuration_lists(environment))
        def create_some(self, given: Sequence[Configured]) -> None:
            """Configurations, without which few calls have a meaning."""
            for one in given:
                self.create(one)

        @rule(number=st.integers(0, FEW - 1), choice=st.integers(0, 2))
        def go_on(self, number: int, choice: int) -> None:
            """The next call of a usual order: most draws without it go nowhere."""
            if not self.profiling.configurations:
                self.create(((0,), 0, usual_bits()))
            elif self.profiling.state == "OFF":
                self.init()
            elif self.profiling.state == "IDLE" or choice == 0:
                self.make(Start(self.pick(number)))
            else:
                self.make(Finalize() if choice == 1 else Stop(self.pick(number)))

        @rule(number=st.integers(0, FEW - 1), choice=st.integers(0, 2))
        def go_on_again(self, number: int, choice: int) -> None:
            """The same, so that it is drawn more often."""
            self.go_on(number, choice)

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

        @rule(given=st.sampled_from((*unusual_paths(), *wrong_devices(environment))))
        def call_unusually(self, given: Init | CreateConfig) -> None:
            """A call whose arguments are mostly refused."""
            if isinstance(given, CreateConfig):
                given = replace(given, config=self.number())
            self.make(given)

        @rule(is_null=st.booleans(), number=st.integers(0, FEW - 1))
        def destroy(self, is_null: bool, number: int) -> None:
            known = self.profiling.configurations
            self.make(DestroyConfig(None if is_null or not known else self.pick(number)))

        def create(self, given: Configured) -> None:
            """Make a configuration under the next number."""
            devices, group, types = given
            self.make(CreateConfig(self.number(), devices, len(devices), group, types))

        def number(self) -> int:
            """A number for a configuration that was not there before."""
            return 1 + sum(isinstance(one, CreateConfig) for one in self.calls)

        def teardown(self) -> None:
            if not self.is_over and trials.late == 0:
                self.judged = judge_end(self.judged, trials.end_of(self.calls))
                self.fail_where_it_differs()

    return Calling


def with_end(judged: Judged, trials: Trials, calls: Calls) -> Judged:
    """A wrong answer, or the line too many that was taken for one."""
    is_answer = judged.problem is not None and judged.problem.kind in ("returns", "collecting")
    return judge_end(judged, trials.end_of(calls)) if is_answer else judged


Configured = tuple[tuple[int, ...], int, int]
"""Devices, a group of metrics, and bits."""


@st.composite
def configuration_lists(draw: st.DrawFn, environment: Environment) -> list[Configured]:
    """What some configurations name: devices of the machine, any metrics, and often equal bits."""
    known = [one for one in ((0,), (1,), (0, 1), (1, 0)) if max(one) < environment.devices]
    first = draw(bits())
    each = st.tuples(
        st.sampled_from(known),
        st.sampled_from(METRICS),
        st.one_of(st.just(first), st.just(first), bits()),
    )
    count = draw(st.sampled_from(range(FEW + 1)))
    return [draw(each) for _ in range(count)]


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


def limit_sequences(environment: Environment) -> Iterator[Calls]:
    """Sequences that go through every limit of the arguments, and every bit, once."""
    yield (DestroyConfig(None), *wrong_devices(environment))
    for one in unusual_paths():
        yield (one,)
    for data in ge_catalog().data_types.values():
        made = CreateConfig(1, (0,), 1, 0, data.mask)
        yield (made, Init(PATH, len(PATH)), Start(1), Stop(1), Finalize(), DestroyConfig(1))
    for metrics in METRICS:
        made = CreateConfig(1, (0,), 1, metrics, ge_catalog().data_types["AICORE_METRICS"].mask)
        yield (made, Init(PATH, len(PATH)), Start(1))


def tours(environment: Environment) -> Iterator[Calls]:
    """Sequences that use each of three configurations before and after each other."""
    level_1 = ge_catalog().data_types["TASK_TIME_L1"].mask
    other = min(1, environment.devices - 1)
    made = (
        CreateConfig(1, (0,), 1, 0, usual_bits()),
        CreateConfig(2, (other,), 1, 0, usual_bits()),
        CreateConfig(3, (0,), 1, 0, level_1),
    )
    init = Init(PATH, len(PATH))
    for one, two in product((1, 2, 3), repeat=2):
        for second in (Start(two), Stop(two)):
            yield (*made, init, Start(one), second, Finalize(), init, Start(one), Stop(two))


def wrong_devices(environment: Environment) -> Calls:
    """Configurations with lists of devices that none may have."""
    most = ge_catalog().functions[CreateConfig.function].check("device-count").most or 0
    known = ((), (0, 0), (environment.devices,), tuple(range(most + 1)), (WORD,))
    null = CreateConfig(1, None, 1, 0, usual_bits())
    return (null, *(CreateConfig(1, one, len(one), 0, usual_bits()) for one in known))


def unusual_paths() -> Calls:
    """Paths and lengths, most of which are refused."""
    checks = ge_catalog().functions[Init.function]
    most = checks.check("path-length").most or 0
    known = (
        Init(None, 0),
        Init("", 0),
        Init(PATH, len(PATH) - 1),
        Init(PATH, len(PATH) + 1),
        Init("a" * most, most),
        Init("a" * (most + 1), most + 1),
        Init("é", 2),
        Init("é", 1),
    )
    refused = sorted(checks.check("path-characters").characters)
    return (*known, *(Init(f"a{one}b", 3) for one in refused))
