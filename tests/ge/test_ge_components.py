"""Components that run: who reports what, in which order, and what is lost without a call."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from ascend_ref.cli import main
from ascend_simulator.ge.components import (
    AclProfilingReporter,
    CannHostProfiler,
    CannMemoryProfiler,
    CannProfilerV2,
    GraphProfilingReporter,
    Operator,
    Process,
    ProfilerCollector,
    Report,
    ScopeProfiler,
    TensorOf,
    types_of,
)
from ascend_simulator.ge.components.executors import ExecutorEvent
from ascend_simulator.ge.components.files import write_host_files
from ascend_simulator.ge.life_cycle import (
    Command,
    CreateConfig,
    Finalize,
    Init,
    Start,
    Stop,
)
from ascend_simulator.run import simulate
from ascend_simulator.scenario import Scenario
from ascend_spec import ge_catalog

SEED = Path(__file__).parents[3] / "shared" / "seeds" / "003_e31998ad8281c695.txt"
EVERYTHING = 0x1 | 0x2 | 0x200 | 0x1000 | 0x1000000
ACL_EXECUTE = (0x020001, "aclmdlExecute")
EVENTS: tuple[ExecutorEvent, ...] = ("kModelStart", "kExecuteStart", "kExecuteEnd")


def started(bits: int = EVERYTHING, **given: bool) -> Process:
    process = Process(**given)
    for call in (CreateConfig(1, (0,), 1, 0, bits), Init("data", 4), Start(1)):
        assert process.call(call).returns in (0, "config")
    return process


def stopped(process: Process) -> list[Report]:
    """What is on the disk after a stop and the end."""
    process.call(Stop(1))
    process.call(Finalize())
    return process.library.written


def kinds(reports: list[Report]) -> list[str]:
    return [one.type_name for one in reports]


# --- data ---------------------------------------------------------------------------------------


@pytest.mark.skipif(not SEED.exists(), reason="the documents are not next to this checkout")
def test_g52_to_g73_the_arrows_are_those_of_the_picture_in_the_document() -> None:
    graph = SEED.read_text(encoding="utf-8").partition("graph TB")[2].partition("style A")[0]
    names = dict(re.findall(r"(\w)\[([^\]]+)\]", graph))
    same = {
        "Insert ProfilerTrace Task": "ProfilerTrace task",
        "ScopeProfiler RAII": "ScopeProfiler",
    }
    drawn = {
        (same.get(names[one], names[one]), same.get(names[two], names[two]))
        for one, two in re.findall(r"(\w)(?:\[[^\]]+\])? --> (\w)", graph)
    }
    held = {
        (one.component, other) for one in ge_catalog().components.values() for other in one.leads_to
    }
    assert held == drawn
    assert len(drawn) == 26


@pytest.mark.skipif(not SEED.exists(), reason="the documents are not next to this checkout")
def test_g74_the_responsibilities_name_the_core_components_of_each_layer() -> None:
    text = SEED.read_text(encoding="utf-8").partition("3.1 Layered Responsibilities")[2]
    rows = text.partition("4. Code Chain")[0].splitlines()
    for layer in ge_catalog().layers.values():
        if layer.core:
            head = f"{layer.title} {', '.join(layer.core)} ".casefold()
            assert any(one.casefold().startswith(head) for one in rows), head
    assert sum(bool(one.core) for one in ge_catalog().layers.values()) == 5


@pytest.mark.skipif(not SEED.exists(), reason="the documents are not next to this checkout")
def test_g155_files_of_components_are_those_of_the_document() -> None:
    text = SEED.read_text(encoding="utf-8")
    named = {one for made in ge_catalog().components.values() for one in made.files}
    absent = {one for one in named if one not in text and Path(one).name not in text}
    assert absent == set()


@pytest.mark.skipif(not SEED.exists(), reason="the documents are not next to this checkout")
def test_g164_g166_functions_of_the_library_are_those_of_the_document() -> None:
    text = SEED.read_text(encoding="utf-8").partition("8. msprof Library")[2].partition("9. Su")[0]
    found = set(re.findall(r"Msprof\w+", text))
    library = {name for name, one in ge_catalog().functions.items() if one.of == "library"}
    assert found - library == {"MsprofReportData"}  # erratum G21
    loaded = re.findall(r"including (.+?) etc", text)[0].split(", ")
    by_name = {name for name, one in ge_catalog().functions.items() if one.by_name}
    assert (set(loaded) - {"MsprofReportData"}) | {"MsprofReportAdditionalInfo"} == by_name


# --- switches -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bits", "types"),
    [  # the table of ge-profiling 1.8
        (0x1, set()),
        (0x2, {"kDevice", "kTaskTime"}),
        (0x40, {"kTrainingTrace"}),
        (0x200, {"kCannHost"}),
        (0x800, {"kTaskTime"}),
        (0x1000, {"kMemory"}),
        (0x1000000, {"kCannHost", "kCannHostL1"}),
        (0x80000000 | 1 << 63, set()),
    ],
)
def test_g157_to_g162_bits_switch_types_of_profiling(bits: int, types: set[str]) -> None:
    assert types_of(bits) == types


def test_g158_a_variable_switches_the_text_of_the_host_and_nothing_else() -> None:
    process = started(to_standard_output=True)
    assert process.enabled == {"kGeHost"}
    with AclProfilingReporter(process, *ACL_EXECUTE):
        pass
    assert stopped(process) == []


def test_g55_modules_are_commanded_in_order_and_late_ones_are_given_the_start() -> None:
    process = Process()
    heard: list[tuple[str, str]] = []

    def listening(module: str) -> Callable[[Command], object]:
        return lambda command: heard.append((module, command.name))

    for module in ("HCCL", "ASCENDCL", "GE", "RUNTIME"):
        process.library.register(module, listening(module))
    for call in (CreateConfig(1, (0,), 1, 0, 0x2), Init("data", 4), Start(1)):
        process.call(call)
    starts = [module for module, name in heard if name == "START"]
    assert starts == ["RUNTIME", "ASCENDCL", "GE", "HCCL"]
    process.library.register("LATE", listening("LATE"))
    assert heard[-2:] == [("LATE", "INIT"), ("LATE", "START")]
    process.call(Stop(1))
    stops = [module for module, name in heard if name == "STOP"]
    assert stops == ["GE", "ASCENDCL", "RUNTIME", "HCCL", "LATE"]


# --- reporters ----------------------------------------------------------------------------------


def test_g117_g119_a_call_of_acl_is_one_record_with_begin_and_end() -> None:
    process = started()
    with AclProfilingReporter(process, *ACL_EXECUTE):
        inside = process.now()
    (record,) = stopped(process)
    begin, end = record.fields["beginTime"], record.fields["endTime"]
    assert isinstance(begin, int)
    assert isinstance(end, int)
    assert begin < inside < end
    assert (record.level, record.type, record.function) == (20000, 0x020001, "MsprofReportApi")


def test_g118_g120_what_began_while_profiling_was_off_is_not_reported() -> None:
    process = Process()
    process.call(CreateConfig(1, (0,), 1, 0, EVERYTHING))
    process.call(Init("data", 4))
    with AclProfilingReporter(process, *ACL_EXECUTE):
        process.call(Start(1))
    assert process.library.kept == []


def test_g121_calls_of_the_graph_engine_need_their_type() -> None:
    for bits, count in ((0x800, 1), (0x200, 0)):
        process = started(bits)
        with GraphProfilingReporter(process, 0xA0006, "GEInitialize"):
            pass
        assert len(stopped(process)) == count


def test_g123_g124_g129_inner_scopes_are_recorded_first_on_a_way_of_their_own() -> None:
    process = started(to_standard_output=True)
    with (
        ScopeProfiler(process, "ge", "model", "Execute"),
        process.in_thread(2),
        ScopeProfiler(process, "ge", "node", "InferShape"),
    ):
        pass
    with ScopeProfiler(process, "gert", "node", "Tiling"):
        pass
    events = [one[2:] for one in process.texts["ge"]]
    assert events == [
        ("node", "InferShape", "Start"),
        ("node", "InferShape", "End"),
        ("model", "Execute", "Start"),
        ("model", "Execute", "End"),
    ]
    assert [one[2:] for one in process.texts["gert"]] == [
        ("node", "Tiling", "Start"),
        ("node", "Tiling", "End"),
    ]
    off = started(0x800)
    with ScopeProfiler(off, "ge", "model", "Execute"):
        pass
    assert off.texts == {"ge": [], "gert": []}


# --- executors ----------------------------------------------------------------------------------


def test_g147_g149_v1_reports_event_tag_then_tag_event_graph() -> None:
    process = started()
    collector = ProfilerCollector(process, graph=3, model=7)
    for _ in range(2):
        collector.record_start(stream=5)
        collector.record_end(stream=5)
    reports = stopped(process)
    one = ["ModelExecute", "step_info", "step_info", "ModelExecute", "graph_id_map"]
    assert kinds(reports) == one * 2
    requests = [r.fields["requestId"] for r in reports if r.type_name == "ModelExecute"]
    assert requests == [1, 1, 2, 2]
    assert collector.tags == [(5, 0, 1, 7), (5, 1, 1, 7), (5, 0, 2, 7), (5, 1, 2, 7)]
    graph = next(one for one in reports if one.type_name == "graph_id_map")
    assert (graph.fields["graphId"], graph.fields["modelId"]) == (3, 7)


def test_g150_v1_reports_nothing_and_counts_nothing_where_profiling_is_off() -> None:
    process = Process()
    collector = ProfilerCollector(process, 3, 7)
    collector.record_start(5)
    collector.record_end(5)
    assert (collector.step, collector.tags, process.library.kept) == (1, [], [])


INPUT, OUTPUT = TensorOf(0, 0, 1, (2, 3)), TensorOf(1, 0, 1, (2,))


def executed(process: Process, *operators: Operator) -> list[Report]:
    profiler = CannProfilerV2(process, operators)
    profiler.on_execute_event("kModelStart")
    for one in operators:
        profiler.on_execute_event("kExecuteStart", one.name)
        profiler.on_execute_event("kExecuteEnd", one.name)
    profiler.on_execute_event("kModelEnd")
    return stopped(process)


def test_g130_to_g137_g141_g142_g146_v2_reports_an_operator_at_the_end_of_its_launch() -> None:
    tensors = (*(INPUT for _ in range(6)), OUTPUT)
    reports = executed(started(), Operator("a", "Add", 0, 8, tensors, contexts=(4, 9)))
    assert kinds(reports) == [
        *("launch", "node_basic_info", "tensor_info", "tensor_info", "context_id_info")
    ]
    end = reports[0].fields["endTime"]
    assert {one.fields["timeStamp"] for one in reports[1:]} == {end}
    assert [one.fields["tensorNum"] for one in reports[2:4]] == [5, 2]
    assert [one.fields["dataLen"] for one in reports[2:4]] == [12 + 44 * 5, 12 + 44 * 2]
    first = reports[2].fields["tensorData"]
    assert first[:11] == (INPUT.direction, INPUT.format, INPUT.data_type, *INPUT.shape, *(0,) * 6)


def test_g134_level_0_has_launches_alone() -> None:
    assert kinds(executed(started(0x800), Operator("a", "Add", tensors=(INPUT,)))) == ["launch"]


def test_g144_mixed_operators_are_reported_twice_and_related_nodes_with_the_launch() -> None:
    related = Operator("b_MemSet", "MemSet")
    mixed = Operator("m", "MatMul", 4, 24, (INPUT,), mixed=True, related=(related,))
    reports = executed(started(), mixed)
    part = ["launch", "node_basic_info", "tensor_info"]
    assert kinds(reports) == [*part, *part, "node_basic_info"]
    types = [r.fields["taskType"] for r in reports if r.type_name == "node_basic_info"]
    assert types == [4, 2, 0]
    assert reports[0].fields["itemId"] == reports[3].fields["itemId"]


def test_g143_a_davinci_model_reports_what_its_model_does() -> None:
    process = started()
    collector = ProfilerCollector(process, 1, 2)

    def inner() -> None:
        collector.record_start(0)
        collector.record_end(0)

    found = kinds(executed(process, Operator("d", "DavinciModel", inner=inner)))
    assert "launch" not in found
    assert found[0] == "ModelExecute"


def test_g138_without_init_v2_reports_nothing() -> None:
    process = started()
    profiler = CannProfilerV2(process, [Operator("a", "Add")])
    profiler.on_execute_event("kExecuteStart", "a")
    profiler.on_execute_event("kExecuteEnd", "a")
    assert stopped(process) == []


def test_g68_g70_profilers_of_host_and_memory_need_their_types() -> None:
    for bits, expected in ((0x200, ["Tiling"]), (0x1000, ["task_memory_info"]), (0x800, [])):
        process = started(bits)
        CannHostProfiler(process).kernel(0x10003, "Tiling", "a", 5, 6)
        CannMemoryProfiler(process).change("a", 0x1000, -64, 0)
        assert kinds(stopped(process)) == expected


# --- what is lost -------------------------------------------------------------------------------


def reported(process: Process) -> Process:
    with AclProfilingReporter(process, *ACL_EXECUTE):
        pass
    return process


def test_g50_g51_what_is_written_depends_on_the_last_call() -> None:
    def written(*calls: Stop | Finalize) -> int:
        process = reported(started())
        for call in calls:
            process.call(call)
        return len(process.library.written)

    assert written() == 0
    assert written(Stop(1)) == 1
    assert written(Finalize()) == 1
    assert written(Stop(1), Finalize()) == 1


def test_g51_a_killed_process_loses_what_is_in_memory_and_a_shut_down_one_nothing() -> None:
    killed = reported(started())
    killed.library.flush()
    reported(killed)
    assert len(killed.kill()) == 1
    assert len(killed.library.written) == 1
    ended = reported(started())
    ended.shut_down()
    assert (len(ended.library.written), ended.enabled) == (1, frozenset())


def test_what_is_reported_after_the_stop_is_refused() -> None:
    process = started()
    with AclProfilingReporter(process, *ACL_EXECUTE):
        process.call(Stop(1))
    assert process.library.written == []
    assert kinds(process.library.refused) == ["aclmdlExecute"]


# --- raw files ----------------------------------------------------------------------------------


def test_g119_g145_a_run_becomes_raw_files_of_the_host_that_decode_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    process = started()
    collector = ProfilerCollector(process, 3, 7)
    operator = Operator("Conv2D", "Conv2D", 0, 24, (INPUT, OUTPUT), (1, 2))
    profiler = CannProfilerV2(process, [operator])
    with AclProfilingReporter(process, *ACL_EXECUTE):
        collector.record_start(5)
        for event in EVENTS:
            profiler.on_execute_event(event, "Conv2D")
        collector.record_end(5)
    reports = stopped(process)
    folder = tmp_path / "PROF_000001_20260101000000000_ABCDEFGH"
    write_host_files(folder, process.library, simulate(Scenario("one")).capture(0).origin)
    files = {one.name: one for one in (folder / "host" / "data").iterdir()}
    calls = files["aging.api_event.data.slice_0"].read_bytes()
    assert len(calls) == 40 * sum(one.file == "api_event" for one in reports)
    heads = [struct.unpack_from("<HHII", calls, at) for at in range(0, len(calls), 40)]
    assert [one[1:3] for one in heads] == [
        (one.level, one.type) for one in reports if one.file == "api_event"
    ]
    basic = files["aging.compact.node_basic_info.slice_0"].read_bytes()
    assert len(basic) == 64
    # name, type of the task, type, blocks: the golden vector of ge-profiling 5.9 but for the flag
    assert basic[24:52].hex() == "d224ee7e20c2c15600000000d224ee7e20c2c1561800000000000000"
    assert len(files["aging.additional.tensor_info.slice_0"].read_bytes()) == 256
    assert "6251491202591237330:Conv2D" in files["unaging.additional.hash_dic.slice_0"].read_text()
    for name in ("api_event.data", "compact.node_basic_info", "additional.tensor_info"):
        assert main(["decode", str(files[f"aging.{name}.slice_0"])]) == 0
    assert "aclmdlExecute" in (
        capsys.readouterr().out + files["unaging.additional.type_info_dic.slice_0"].read_text()
    )


# --- a plain record of what was called -----------------------------------------------------------


class ReportingPath(RuleBasedStateMachine):
    """Calls in any order and threads, next to lists of what has to come of them."""

    def __init__(self) -> None:
        super().__init__()
        self.process = Process()
        self.process.call(CreateConfig(1, (0,), 1, 0, EVERYTHING))
        self.begun = self.running = False
        self.memory: list[tuple[str, int]] = []
        self.disk: list[tuple[str, int]] = []
        self.open: list[tuple[AclProfilingReporter, bool, int]] = []

    def note(self, kind: str, thread: int) -> None:
        if self.running:
            self.memory.append((kind, thread))

    def written(self) -> None:
        self.disk, self.memory = self.disk + self.memory, []

    @rule()
    def init(self) -> None:
        expected = 405091711 if self.begun else 0
        assert self.process.call(Init("data", 4)).returns == expected
        self.begun = True

    @rule()
    def start(self) -> None:
        assert (self.process.call(Start(1)).returns == 0) == self.begun
        self.running = self.begun

    @rule()
    def stop(self) -> None:
        assert (self.process.call(Stop(1)).returns == 0) == self.begun
        self.written()
        self.running = False

    @rule()
    def finalize(self) -> None:
        assert (self.process.call(Finalize()).returns == 0) == self.begun
        self.written()
        self.begun = self.running = False

    @rule(thread=st.integers(1, 3))
    def enter(self, thread: int) -> None:
        reporter = AclProfilingReporter(self.process, *ACL_EXECUTE)
        with self.process.in_thread(thread):
            reporter.__enter__()
        self.open.append((reporter, self.running, thread))

    @precondition(lambda self: self.open)
    @rule()
    def leave(self) -> None:
        reporter, was_on, thread = self.open.pop()
        with self.process.in_thread(thread):
            reporter.__exit__(None, None, None)
        if was_on:
            self.note("aclmdlExecute", thread)

    @rule(thread=st.integers(1, 3))
    def operator(self, thread: int) -> None:
        profiler = CannProfilerV2(self.process, [Operator("a", "Add", tensors=(INPUT,))])
        with self.process.in_thread(thread):
            for event in EVENTS:
                profiler.on_execute_event(event, "a")
        for kind in ("launch", "node_basic_info", "tensor_info"):
            self.note(kind, thread)

    @rule()
    def turn_of_the_reporters(self) -> None:
        self.process.library.flush()
        self.written()

    @rule()
    def kill(self) -> None:
        lost = [(one.type_name, one.thread) for one in self.process.kill()]
        assert lost == self.memory
        self.teardown()
        self.__init__()  # type: ignore[misc]  # another process

    def teardown(self) -> None:
        found = [(one.type_name, one.thread) for one in self.process.library.written]
        assert found == self.disk


def test_g115_g137_any_calls_leave_what_a_plain_record_of_them_says() -> None:
    run_state_machine_as_test(
        ReportingPath,
        settings=settings(
            max_examples=60, stateful_step_count=25, derandomize=True, database=None, deadline=None
        ),
    )
