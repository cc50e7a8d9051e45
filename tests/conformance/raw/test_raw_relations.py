"""Relations between entities, judged on the joined records of a PROF_*.

Bytes are changed and looked up here with struct and the layouts of raw-prof 4, without our readers.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from slices import marked

from ascend_conformance.check import check, judge_file
from ascend_conformance.discover import discover
from ascend_conformance.engine.relations.media import judged_in
from ascend_conformance.engine.relations.rule import load_relations
from ascend_conformance.engine.relations.selftest import try_relations
from ascend_conformance.finding import FileReport, Finding
from ascend_conformance.media import load_rules
from ascend_conformance.media.db.plan import Selection
from ascend_conformance.media.raw.benches import open_bench
from ascend_conformance.media.raw.judge import judge_raw
from ascend_conformance.options import Options
from ascend_conformance.pages import rule_page
from ascend_ref.cli import main
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset

HERE = {name: one for name, one in load_relations().items() if "raw" in judged_in(one)}
OF_SAMPLES = {"LOS104", "LOS105", "LOS106", "REL702", "REL705", "REL720", "REL721"}
"""A sample is made of several records, or of the difference of two."""
UNSTATED = {
    "LOS101": "tasks outside of graphs are few here, and the first notes a mark",
    "REL107": "a call has no number in its record",
    "REL109": "the operator of the call names its sub-tasks",
    "REL204": "formats are numbers, and no number of a data type is a format",
    "REL205": "so are those of outputs",
    "REL206": "and the other way round",
    "REL207": "a kernel of level 0 has no record",
}
"""What no byte of a record can show of their breaks, which are stated on entities."""
CALL = struct.Struct("<HHIIIQQQ")
"""magicNumber, level, type, threadId, reserve, beginTime, endTime, itemId."""
REAL = (
    Path(__file__).parents[3]
    / ".."
    / "shared"
    / "data"
    / "mindspore"
    / "mindinsight"
    / "JOB3"
    / "hwts.log.data.45.dev.profiler_default_tag.1.slice_0"
)
ONLY = Options(selection=Selection(select=("REL", "LOS1", "DB", "CSV")))


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small capture without sub-tasks, on a chip whose log is that of hwts."""
    return captured("cnn-910a", tmp_path_factory.mktemp("clean"))


@pytest.fixture
def folder(clean: Path, tmp_path: Path) -> Path:
    return shutil.copytree(clean, tmp_path / clean.name)


def captured(name: str, into: Path) -> Path:
    run = write_run(override(preset(name), ranks=2, steps=2), 3, into / "run", ("raw",)).folder
    return sorted(run.rglob("PROF_*"))[0]


def found(path: Path, rule: str) -> Finding:
    """The only finding of a rule."""
    (one,) = (one for one in judge_raw(path, ONLY).findings if one.rule == rule)
    return one


def data(path: Path, name: str) -> Path:
    (file,) = path.glob(f"*/data/{name}*")
    return file


def calls(path: Path) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Byte and fields of each call."""
    return calls_in(data(path, "unaging.api_event").read_bytes())


def calls_in(content: bytes) -> Iterator[tuple[int, tuple[int, ...]]]:
    for place, one in enumerate(CALL.iter_unpack(content)):
        yield place * CALL.size, one


# --- breaks on entities --------------------------------------------------------------------------


def test_what_raw_files_show_is_known() -> None:
    assert {"REL101", "REL102", "REL107", "REL301", "REL303", "REL508", "REL612"} <= HERE.keys()
    assert len(HERE) >= 55
    # Readers make these numbers themselves.
    assert not {"REL108", "REL113", "REL309", "REL522", "DB606"} & HERE.keys()


@pytest.mark.exhaustive
def test_each_relation_wakes_for_its_own_break_alone() -> None:
    """Some of them; all of them below."""
    _try("text-museum", sorted(HERE.keys() - OF_SAMPLES - UNSTATED.keys())[5::30])


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(4))
def test_every_relation_wakes_for_its_own_break_alone(part: int) -> None:
    _try("text-museum", sorted(HERE.keys() - OF_SAMPLES - UNSTATED.keys())[part::4])


@pytest.mark.parametrize(
    "rules",
    [["REL109"], marked(["LOS101", "REL101", "REL111", "DB504"], pytest.mark.exhaustive)],
)
def test_they_wake_in_the_logs_of_another_scheduler(rules: list[str]) -> None:
    _try("cnn-910a", rules)


def _try(name: str, rules: list[str]) -> None:
    with open_bench(name) as bench:
        trials = try_relations(bench, [HERE[one] for one in rules])
    assert trials.unclean == []
    assert [(one.words, one.fired, one.wrong) for one in trials.missed] == []
    assert [(one.words, one.fired) for one in trials.false_alarms] == []
    assert {one.rule for one in trials.mutations} == set(rules)


@pytest.mark.exhaustive
def test_what_no_record_can_show_is_said_to_be_unbroken() -> None:
    with open_bench("text-museum") as bench:
        trials = try_relations(bench, [HERE[one] for one in (*OF_SAMPLES, *UNSTATED)])
    assert all(one.not_broken for one in trials.trials)


# --- breaks in bytes -----------------------------------------------------------------------------


def test_a_call_that_is_there_twice_is_found_at_its_first_record(folder: Path) -> None:
    offset, first = next((at, one) for at, one in calls(folder) if one[6] > one[5])
    with data(folder, "unaging.api_event").open("ab") as file:
        file.write(CALL.pack(*first))
    one = found(folder, "REL303")
    assert (one.file.rsplit("/", 1)[-1], one.offset) == ("unaging.api_event.data.slice_0", offset)
    assert (one.verdict, one.count, one.place) == ("violation", 2, "api_event.beginTime")


def test_calls_of_another_level_than_their_names_are_found_at_the_first(folder: Path) -> None:
    """Two calls of acl whose level is that of models, 15000."""
    places = [at for at, one in calls(folder) if one[1] == 20000]
    types = data(folder, "unaging.additional.type_info_dic")
    known = dict(one.split(":", 1) for one in types.read_text().splitlines())
    content = bytearray(data(folder, "unaging.api_event").read_bytes())
    for at in places[3:5]:
        (number,) = struct.unpack_from("<I", content, at + 4)
        with types.open("a") as file:
            file.write(f"15000_{number}:{known[f'20000_{number}']}\n")
        struct.pack_into("<H", content, at + 2, 15000)
    data(folder, "unaging.api_event").write_bytes(content)
    one = found(folder, "REL301")
    assert (one.offset, one.count, one.place) == (places[3], 2, "api_event.level")
    assert (
        one.context["rows"]
        == sum(known.get(f"{call[1]}_{call[2]}", "").startswith("acl") for _, call in calls(folder))
        + 2
    )


def launched(path: Path) -> list[tuple[int, int, int, int]]:
    """Thread, time, stream and task of each launch of a kernel on an AI Core, which is 0."""
    content = data(path, "unaging.compact.task_track").read_bytes()
    every = [content[at : at + 64] for at in range(0, len(content), 64)]
    return [
        (*struct.unpack_from("<I4xQ", one, 8), *struct.unpack_from("<HH", one, 26))
        for one in every
        if struct.unpack_from("<Q", one, 32) == (0,)
    ]


def logged(record: bytes) -> tuple[int, int]:
    """Stream and task of a record of hwts."""
    return struct.unpack_from("<I", record, 16)[0], struct.unpack_from("<H", record, 6)[0]


def holding(path: Path, thread: int, time: int) -> int:
    """The byte of the launch that holds a time."""
    (offset,) = (
        at
        for at, one in calls(path)
        if one[1] == 10000 and one[3] == thread and one[5] < time <= one[6]
    )
    return offset


def test_a_launch_whose_task_did_not_run_is_found_at_its_call(folder: Path) -> None:
    """The log loses the start and the end of a kernel."""
    every = launched(folder)
    thread, time, *task = every[len(every) // 2]
    log = data(folder, "hwts")
    content = log.read_bytes()
    records = [content[at : at + 64] for at in range(0, len(content), 64)]
    kept = [one for one in records if logged(one) != tuple(task)]
    assert len(records) - len(kept) == 2
    log.write_bytes(b"".join(kept))
    one = found(folder, "REL107")
    assert (one.offset, one.count, one.table) == (holding(folder, thread, time), 1, "api_event")
    assert one.verdict == "advice"


def test_a_task_that_ran_twice_at_once_is_found_at_its_start(folder: Path) -> None:
    """A start and an end of the same ticks once more: task-twice."""
    log = data(folder, "hwts")
    content = log.read_bytes()
    task = logged(content[:64])
    own = [at for at in range(0, len(content), 64) if logged(content[at : at + 64]) == task]
    log.write_bytes(content + b"".join(content[at : at + 64] for at in own))
    one = found(folder, "REL114")
    assert (one.offset, one.place, one.verdict) == (own[0], "hwts.sysCnt", "violation")


def test_a_sample_of_a_component_that_is_there_twice_is_found(folder: Path) -> None:
    file = data(folder, "npu_module_mem")
    content = file.read_bytes()
    file.write_bytes(content + content[-24:])
    one = found(folder, "REL721")
    assert one.file.endswith("npu_module_mem.data.0.slice_0")
    assert one.count == 1


# --- what a reader cannot know -------------------------------------------------------------------


def reasons(report: FileReport) -> dict[str, str]:
    return {one.rule: one.reason for one in report.skipped}


def test_without_a_clock_relations_are_skipped_with_the_reason(folder: Path) -> None:
    (folder / "host" / "host_start.log").unlink()
    report = judge_raw(folder, ONLY)
    assert report.findings == ()
    assert reasons(report)["REL303"].startswith("not read: ")
    assert "host_start.log of host is missing" in reasons(report)["REL303"]
    assert "REL101" not in reasons(report), "the device has its own clock"


def test_without_a_start_nothing_is_joined_and_all_relations_say_so(folder: Path) -> None:
    for one in folder.glob("*/start_info*"):
        one.unlink()
    report = judge_raw(folder, ONLY)
    assert report.findings == ()
    assert reasons(report).keys() == HERE.keys()
    assert all("start_info" in one for one in reasons(report).values())


@pytest.mark.parametrize(
    "kind",
    ["unaging.api_event", "hwts", "unaging.additional.hccl_info", "unaging.additional.hash_dic"],
)
def test_a_file_that_was_cut_is_not_condemned(folder: Path, kind: str) -> None:
    file = data(folder, kind)
    content = file.read_bytes()
    file.write_bytes(content[: len(content) * 2 // 3 // 8 * 8 + 4])
    for one in judge_raw(folder, ONLY).findings:
        assert one.verdict == "advice", one.message
        assert "what could not be read may explain it" in one.message or one.rule == "REL107"


def test_without_its_calls_a_device_is_not_condemned(tmp_path: Path) -> None:
    """On a chip with sub-tasks, whose kernels and collectives the host alone names."""
    path = captured("cnn-910b", tmp_path)
    data(path, "unaging.api_event").write_bytes(b"")
    assert [one.message for one in judge_raw(path, ONLY).findings if one.verdict != "advice"] == []


def test_records_behind_a_lost_slice_are_found_where_they_stand(folder: Path) -> None:
    """The first slice is missing, and the file that is left has the number 1."""
    file = data(folder, "unaging.api_event")
    content = file.read_bytes()
    half = len(content) // 80 * 40
    file.unlink()
    places = [at for at, one in calls_in(content[half:]) if one[6] > one[5]]
    record = content[half + places[0] : half + places[0] + CALL.size]
    file.with_name("unaging.api_event.data.slice_1").write_bytes(content[half:] + record)
    one = found(folder, "REL303")
    assert (one.offset, one.verdict) == (places[0], "advice")
    assert one.file.endswith("slice_1")
    assert "slice 0 is missing before it, the oldest" in one.message


def test_a_real_log_of_a_device_breaks_no_relation_whose_launches_are_unknown(
    folder: Path,
) -> None:
    """62,847 records of an Ascend 910 (mindinsight JOB3), of graphs that no host file knows.

    Numbers fall where a graph is executed again, which is advice.
    """
    if not REAL.exists():
        pytest.skip(f"needs the real log {REAL}")
    data(folder, "hwts").write_bytes(REAL.read_bytes())
    ticks = (struct.unpack_from("<Q", one, 8)[0] for one in hwts_records(REAL.read_bytes()))
    start = folder / "device_0" / "dev_start.log.0"
    known = [one for one in start.read_text().splitlines() if not one.startswith("cntvct")]
    start.write_text("\n".join([*known, f"cntvct: {min(ticks)}", ""]))
    for one in folder.glob("*/end_info*"):
        one.unlink()
    selection = Selection(select=("REL1", "DB504", "LOS101"))
    report = judge_raw(folder, Options(selection=selection))
    assert {(one.rule, one.verdict) for one in report.findings} <= {
        ("REL101", "advice"),
        ("REL107", "advice"),
    }
    assert "DB504" not in reasons(report)
    assert "nothing to judge" in reasons(report)["LOS101"]


def hwts_records(content: bytes) -> list[bytes]:
    return [content[at : at + 64] for at in range(0, len(content) // 64 * 64, 64)]


def test_simulated_captures_are_judged_by_relations(clean: Path) -> None:
    (candidate,) = (one for one in discover(clean) if one.medium == "raw")
    report, _ = judge_file(ONLY, candidate)
    assert report.findings == ()
    assert report.rules_run >= 40
    assert "REL301" not in reasons(report)


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["a3-dense", "dense-8", "moe-8", "reduction-bound"])
def test_further_simulated_captures_break_no_relation(name: str, tmp_path: Path) -> None:
    """Those of the other products are in test_raw_stream_rules.py."""
    run = write_run(override(preset(name), steps=2), 1, tmp_path / "run", ("raw",)).folder
    for path in sorted(run.rglob("PROF_*"))[:2]:
        assert [one.message for one in judge_raw(path, ONLY).findings] == []


# --- what users read -----------------------------------------------------------------------------


def test_the_command_lists_what_raw_files_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--relations"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["rule"].rstrip().endswith("raw")
    assert lines["REL301"].rstrip().endswith("api_event")
    assert "raw (`api_event`)" in rule_page(load_rules()["REL301"])


def test_a_copy_is_damaged_by_the_break_of_a_relation(clean: Path, tmp_path: Path) -> None:
    arguments = ["damage", str(clean), "REL102", "--output", str(tmp_path / "damaged")]
    assert main(arguments) == 0
    findings = check([tmp_path / "damaged"], ONLY).findings
    assert [one.rule for one in findings] == ["REL102"]
