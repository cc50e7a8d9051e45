"""What components hand to the library, field by field, and what becomes of it in files."""

from __future__ import annotations

import struct
from pathlib import Path

from ascend_simulator.ge.components import (
    AclProfilingReporter,
    CannHostProfiler,
    CannMemoryProfiler,
    CannProfilerV2,
    GraphProfilingReporter,
    Library,
    Operator,
    Process,
    ProfilerCollector,
    Report,
    ScopeProfiler,
    TensorOf,
)
from ascend_simulator.ge.components.files import write_host_files
from ascend_simulator.ge.life_cycle import Command, CreateConfig, Finalize, Init, Start, Stop
from ascend_simulator.run import simulate
from ascend_simulator.scenario import Scenario

EVERYTHING = 0x1 | 0x2 | 0x200 | 0x1000 | 0x1000000
EXECUTE = (0x020001, "aclmdlExecute")


def started(bits: int = EVERYTHING, devices: tuple[int, ...] = (0,), **given: bool) -> Process:
    process = Process(**given)
    for call in (CreateConfig(1, devices, len(devices), 0, bits), Init("data", 4), Start(1)):
        process.call(call)
    return process


def kept(process: Process, kind: str) -> list[Report]:
    return [one for one in process.library.kept if one.type_name == kind]


def launched(process: Process, *operators: Operator) -> CannProfilerV2:
    profiler = CannProfilerV2(process, operators)
    profiler.on_execute_event("kModelStart")
    return profiler


# --- fields ---------------------------------------------------------------------------------------


def test_g130_to_g142_lengths_of_data_are_those_of_the_evidence() -> None:
    """Tensors 12 + 44 each, sub-tasks 232 (V2), memory 48, graphs 16 (ge-profiling 5.4)."""
    process = started()
    tensors = (TensorOf(0, 2, 1, (1, 2, 3, 4, 5, 6, 7, 8, 9)), TensorOf(1, 3, 0, ()))
    profiler = launched(process, Operator("a", "Add", tensors=tensors, contexts=(7, 9)))
    profiler.on_execute_event("kExecuteStart", "a")
    profiler.on_execute_event("kExecuteEnd", "a")
    CannMemoryProfiler(process).change("a", 0x1000, -64, 3)
    collector = ProfilerCollector(process, 3, 7)
    collector.record_start(5)
    collector.record_end(5)
    lengths = {one.type_name: one.fields.get("dataLen") for one in process.library.kept}
    assert {name: size for name, size in lengths.items() if size is not None} == {
        "tensor_info": 12 + 2 * 44,
        "context_id_info": 232,
        "task_memory_info": 48,
        "graph_id_map": 16,
    }
    (found,) = kept(process, "tensor_info")
    assert found.fields["tensorData"] == (
        *(0, 2, 1, 1, 2, 3, 4, 5, 6, 7, 8),
        *(1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    )
    (contexts,) = kept(process, "context_id_info")
    assert contexts.fields["ctxIdNum"] == 2
    assert contexts.fields["ctxIds"] == (7, 9, *(0,) * 53)
    (memory,) = kept(process, "task_memory_info")
    assert [memory.fields[name] for name in ("addr", "size", "deviceId")] == [0x1000, -64, 3]
    (graph,) = kept(process, "graph_id_map")
    assert graph.fields["modelName"] == 0


def test_g147_to_g149_tags_of_the_host_are_calls_with_their_tag() -> None:
    process = started()
    collector = ProfilerCollector(process, 3, 7)
    collector.record_start(5)
    collector.record_end(5)
    tags = kept(process, "step_info")
    assert [(one.level, one.type, one.fields["itemId"]) for one in tags] == [
        (10000, 0x10006, 0),
        (10000, 0x10006, 1),
    ]
    events = kept(process, "ModelExecute")
    assert [(one.record, one.level, one.fields["itemId"]) for one in events] == [
        ("EVENT", 15000, 7),
        ("EVENT", 15000, 7),
    ]
    assert {one.record for one in tags} == {"API_EVENT"}


def test_g134_to_g146_the_second_set_is_of_vector_cores_at_the_same_time() -> None:
    process = started()
    related = Operator("clean", "MemSet", task_type=1, contexts=(3,))
    mixed = Operator("m", "MatMul", task_type=4, mixed=True, related=(related,))
    profiler = launched(process, mixed)
    profiler.on_execute_event("kExecuteStart", "m")
    profiler.on_execute_event("kExecuteEnd", "m")
    first, second = kept(process, "launch")
    assert first.fields == second.fields
    basics = kept(process, "node_basic_info")
    assert [one.fields["taskType"] for one in basics] == [4, 2, 1]
    times = {one.fields["timeStamp"] for one in (*basics, *kept(process, "context_id_info"))}
    assert times == {first.fields["endTime"]}
    assert set(process.library.texts.values()) == {"m", "MatMul", "clean", "MemSet"}
    assert len({one.fields["opName"] for one in basics}) == 2


def test_g138_init_registers_all_names_once_where_it_is_switched_on() -> None:
    related = (Operator("companion", "MemSet"),)
    operators = [Operator("a", "Add", related=related), Operator("b", "Mul")]
    process = started(0x2)
    CannProfilerV2(process, operators).on_execute_event("kModelStart")
    assert set(process.library.texts.values()) == {"a", "Add", "companion", "MemSet", "b", "Mul"}
    off = started(0x200)
    profiler = CannProfilerV2(off, operators)
    profiler.on_execute_event("kModelStart")
    assert (profiler.is_ready, off.library.texts) == (False, {})


def test_g139_g140_begins_belong_to_threads() -> None:
    process = started(0x2)
    profiler = launched(process, Operator("a", "Add"))
    with process.in_thread(2):
        profiler.on_execute_event("kExecuteStart", "a")
    profiler.on_execute_event("kExecuteEnd", "a")
    assert process.library.kept == []  # it began in another thread
    with process.in_thread(2):
        profiler.on_execute_event("kExecuteEnd", "a")
    assert {one.thread for one in process.library.kept} == {2}
    assert process.thread == 1


def test_g120_g139_what_began_before_a_start_or_ended_after_a_stop_is_no_record() -> None:
    process = started(0x2)
    called: list[str] = []
    inner = Operator("d", "DavinciModel", inner=lambda: called.append("d"))
    profiler = launched(process, Operator("a", "Add"), inner)
    profiler.on_execute_event("kExecuteEnd", "d")
    process.call(Stop(1))
    profiler.on_execute_event("kExecuteEnd", "d")
    assert called == ["d"]
    profiler.on_execute_event("kExecuteStart", "a")
    profiler.on_execute_event("kExecuteEnd", "a")
    assert (process.library.written, process.library.refused) == ([], [])
    with GraphProfilingReporter(process, 0xA0006, "GEInitialize"):
        pass
    CannHostProfiler(process).kernel(0x10003, "Tiling", "a", 5, 6)
    assert process.library.refused == []
    fresh = started(0x2)
    late = launched(fresh, Operator("a", "Add"))
    late.on_execute_event("kExecuteEnd", "a")
    assert fresh.library.kept == []


def test_g134_g137_facts_need_the_type_of_devices_and_launches_that_of_times() -> None:
    process = started(0x2)
    operator = Operator("a", "Add", tensors=(TensorOf(0, 0, 0, (1,)),))
    profiler = launched(process, operator)
    kinds = []
    for enabled in ({"kDevice"}, {"kTaskTime"}):
        process.enabled = frozenset(enabled)
        profiler.on_execute_event("kExecuteStart", "a")
        profiler.on_execute_event("kExecuteEnd", "a")
        kinds.append([one.type_name for one in process.library.kept])
        process.library.kept = []
    assert kinds == [["node_basic_info", "tensor_info"], ["launch"]]


def test_g123_g129_begin_and_end_of_a_scope_have_their_times_and_thread() -> None:
    process = started(to_standard_output=True)
    before = process.now()
    with process.in_thread(4), ScopeProfiler(process, "ge", "node", "Tiling"):
        inside = process.now()
    after = process.now()
    (begin, one, *_), (end, two, *_) = process.texts["ge"]
    assert before < begin < inside < end < after
    assert (one, two) == (4, 4)


# --- commands -------------------------------------------------------------------------------------


def test_g54_g55_a_module_is_registered_once_and_a_late_one_is_given_what_holds() -> None:
    library = Library()
    heard: list[str] = []

    def listen(command: Command) -> None:
        heard.append(command.name)

    assert library.register("GE", listen) == 0
    assert heard == []
    library.register("GE", listen)
    library.command(Command("INIT"))
    assert heard == ["INIT"]
    late: list[str] = []
    library.register("LATE", lambda command: late.append(command.name))
    assert late == ["INIT"]
    library.command(Command("START", (0,), 1))
    library.command(Command("STOP", (0,), 1))
    behind: list[str] = []
    library.register("BEHIND", lambda command: behind.append(command.name))
    assert behind == []


def test_g51_modules_report_while_they_are_stopped_and_not_afterwards() -> None:
    """What they hold is handed over in their callback, before the flush."""
    process = started(0x1)
    report = Report("MsprofReportApi", "api_event", "API_EVENT", 20000, 1, "x", 1, {})

    def hand_over(command: Command) -> None:
        if command.name == "STOP":
            assert process.library.report(report) == 0

    process.library.register("HCCL", hand_over)
    process.call(Stop(1))
    assert process.library.written == [report]
    assert process.library.report(report) == 6
    assert process.library.refused == [report]


def test_g50_g51_each_device_is_stopped_where_the_engine_ends() -> None:
    process = started(0x1, (1, 0))
    heard: list[tuple[str, tuple[int, ...]]] = []
    process.library.register("HCCL", lambda command: heard.append((command.name, command.devices)))
    heard.clear()
    process.shut_down()
    assert heard == [("STOP", (0,)), ("STOP", (1,)), ("FINALIZE", ())]
    assert not process.library.is_running
    process = started(0x1)
    process.call(Stop(1))
    assert not process.acl_is_on
    process = started(0x1)
    process.call(Finalize())
    assert (process.acl_is_on, process.is_on, process.library.is_running) == (False, False, False)


def test_g156_a_second_device_adds_no_types_and_keeps_those_of_the_first() -> None:
    process = started(0x800)
    process.call(CreateConfig(2, (1,), 1, 0, 0x800))
    process.enabled |= {"kMemory"}
    process.call(Start(2))
    assert process.enabled == {"kTaskTime", "kMemory"}
    assert process.is_on


def test_g51_a_killed_process_reports_no_more() -> None:
    process = started()
    process.kill()
    assert (process.enabled, process.acl_is_on, process.is_on) == (frozenset(), False, False)
    with AclProfilingReporter(process, *EXECUTE):
        pass
    assert (process.library.kept, process.library.refused) == ([], [])
    report = Report("MsprofReportApi", "api_event", "API_EVENT", 20000, 1, "x", 1, {})
    assert process.library.report(report) == 6


# --- files ----------------------------------------------------------------------------------------


def test_g119_g145_records_in_files_have_thread_times_and_names_of_types(tmp_path: Path) -> None:
    process = started()
    collector = ProfilerCollector(process, 3, 7)
    with process.in_thread(9), AclProfilingReporter(process, *EXECUTE):
        collector.record_start(5)
    process.call(Stop(1))
    folder = tmp_path / "PROF_000001_20260101000000000_ABCDEFGH"
    write_host_files(folder, process.library, simulate(Scenario("one")).capture(0).origin)
    data = folder / "host" / "data"
    content = (data / "aging.api_event.data.slice_0").read_bytes()
    rows = [struct.unpack_from("<HHIIIQQQ", content, at) for at in range(0, len(content), 40)]
    assert {row[3] for row in rows} == {9}
    event, tag, call = rows
    assert event[4:] == (1, event[5], 2**64 - 1, 7)  # request, time, mark, model
    assert [tag[1], tag[2], tag[7]] == [10000, 0x10006, 0]
    given = [one.fields for one in process.library.written]
    assert call[5] - event[5] == int(str(given[2]["beginTime"])) - int(str(given[0]["timeStamp"]))
    assert call[6] - call[5] == int(str(given[2]["endTime"])) - int(str(given[2]["beginTime"]))
    assert call[5] > 10**6  # ticks of the machine, not of the model alone
    types = (data / "unaging.additional.type_info_dic.slice_0").read_text("utf-8")
    for line in ("20000_131073:aclmdlExecute", "10000_65542:step_info"):
        assert line in types
