"""Timelines from one generation to another, against what that one writes, and there and back."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from plain_rounds import DATA
from slices import marked

from ascend_ref.cli import main
from ascend_ref.migrate.account import Account, Migrated
from ascend_ref.migrate.profile import NotMigrated, migrate_profile
from ascend_ref.profile.export import export_database
from ascend_ref.states import Target
from ascend_simulator.run import write_run
from ascend_simulator.scenario import override, preset

ARROWS = ("HostToDevice", "async_npu")
"""Arrows to the device, of which the engines draw others for the same recording."""
REAL = ("text/pytorch_level1_rank0", "generations/text_910a_2024_level1_rank0")


def migrate(source: Path, writer: str, out: Path) -> Account:
    return migrate_profile(source, [Target("writer", writer)], out)


def one_of(account: Account, name: str = "") -> Migrated:
    (found,) = (one for one in account.files if one.file.endswith(name or ".json"))
    return found


def events(path: Path) -> list[dict[str, Any]]:
    found = json.loads(path.read_bytes())
    return found["traceEvents"] if isinstance(found, dict) else found


def counted(found: list[dict[str, Any]]) -> Counter[str]:
    return Counter(json.dumps(one) for one in found)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The timelines of one recording by several writers."""
    top = tmp_path_factory.mktemp("timelines")
    scenario = override(preset("dense-8"), ranks=2, steps=1)
    run = write_run(scenario, 0, top / "run", ("pytorch-db", "msprof-db")).folder
    found = {}
    for name, writers in (
        ("ascend_pytorch_profiler_0.db", ("adapter", "adapter-2025-01")),
        ("msprof_*.db", ("cpp", "cpp-2025")),
    ):
        database = sorted(run.rglob(name))[0]
        for writer in writers:
            export_database(database, top / writer, ["timeline"], writer)
            (found[writer],) = (top / writer).iterdir()
    return found


@pytest.mark.parametrize(("old", "new"), [("cpp", "cpp-2025"), ("cpp-2025", "cpp")])
def test_a_timeline_becomes_what_its_new_writer_writes(
    made: dict[str, Path], tmp_path: Path, old: str, new: str
) -> None:
    """Byte for byte: the threads of Overlap Analysis are numbered in two ways."""
    source = made[old]
    account = migrate(source, new, tmp_path / "out")
    assert (tmp_path / "out" / source.name).read_bytes() == made[new].read_bytes()
    assert account.is_whole
    assert {one.effect for one in one_of(account).entries} == {"remapped"}


def test_a_timeline_of_2025_differs_in_what_is_stated_alone(
    made: dict[str, Path], tmp_path: Path
) -> None:
    """From today's to that of 2025-01, as the adapter of then writes the same recording: all is
    equal but for arrows, of which the engines draw others, and when nothing ran at the very start.
    """
    account = migrate(made["adapter"], "adapter-2025-01", tmp_path / "out")
    out = tmp_path / "out" / "trace_view.json"
    apart = [
        [one for one in events(path) if one.get("cat") not in ARROWS]
        for path in (out, made["adapter-2025-01"])
    ]
    found, wanted = map(counted, apart)
    assert not wanted - found
    assert {json.loads(one)["name"] for one in found - wanted} == {"Free"}
    kept = [[json.dumps(one) for one in side] for side in apart]
    assert [one for one in kept[0] if one in wanted] == kept[1], "the order of events"
    lost = {one.place: one.count for one in one_of(account).entries if one.effect == "lost"}
    named = sum(one["name"].startswith("Enqueue@") for one in events(made["adapter"]))
    operators = sum("rank_size" in one.get("args", {}) for one in events(made["adapter"]))
    assert lost == {
        "trace_view.json: Python/named-enqueue: name": named,
        "trace_view.json: Communication: thread_name: name": 1,
        "trace_view.json: Communication/operator: rank_size": operators,
    }


def test_a_timeline_of_2025_comes_back_byte_for_byte(made: dict[str, Path], tmp_path: Path) -> None:
    there = migrate(made["adapter-2025-01"], "adapter", tmp_path / "there")
    up = tmp_path / "there" / "trace_view.json"
    back = migrate(up, "adapter-2025-01", tmp_path / "back")
    assert there.is_whole
    assert back.is_whole
    again = tmp_path / "back" / "trace_view.json"
    assert again.read_bytes() == made["adapter-2025-01"].read_bytes()
    assert up.read_bytes() != again.read_bytes()


@pytest.mark.parametrize("folder", [REAL[0], marked(REAL[1], pytest.mark.exhaustive)])
def test_real_timelines_come_back_but_for_what_is_stated(folder: str, tmp_path: Path) -> None:
    source = DATA / folder
    if not source.is_dir():
        pytest.skip(f"needs the real profiles of {DATA}")
    if folder == REAL[0]:  # the files next to it show the family, which is the usual one
        (source,) = source.rglob("trace_view.json")
    there = migrate(source, "adapter", tmp_path / "there")
    back = migrate(tmp_path / "there" / source.name, "adapter-2025-01", tmp_path / "back")
    lost: Counter[str] = Counter()
    for account in (there, back):
        for entry in one_of(account, "trace_view.json").entries:
            if entry.effect == "lost":
                lost[entry.place.rpartition(": ")[2]] += entry.count
    (before,) = [source] if source.is_file() else source.rglob("trace_view.json")
    (after,) = (tmp_path / "back").rglob("trace_view.json")
    found: Counter[str] = Counter()
    for was, now in zip(events(before), events(after), strict=True):
        found.update(key for key in was if key != "args" and was[key] != now.get(key))
        args = was.get("args", {}), now.get("args", {})
        found.update(key for key in args[0] if args[0][key] != args[1].get(key))
    assert found == lost
    assert found, "a real file that loses nothing tests less"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("source", "writer"),
    [("adapter", "adapter-2025-01"), ("adapter-2025-01", "adapter"), ("cpp", "cpp-2025")]
    + [(one, "adapter") for one in REAL],
)
def test_migrated_timelines_conform(
    made: dict[str, Path], source: str, writer: str, tmp_path: Path
) -> None:
    path = made.get(source, DATA / source)
    if not path.exists():
        pytest.skip(f"needs the real profiles of {DATA}")
    migrate(path, writer, tmp_path / "out")
    (found,) = (tmp_path / "out").rglob(path.name if path.is_file() else "trace_view.json")
    assert main(["check", "--as", writer, "--fail-on", "violation", str(found)]) == 0


def test_where_generations_are_equal_nothing_changes(made: dict[str, Path], tmp_path: Path) -> None:
    account = migrate(made["adapter"], "adapter-2026-08", tmp_path / "out")
    found = one_of(account)
    assert (found.fate, found.after, found.entries) == ("migrated", "adapter-2026-08", ())
    assert (tmp_path / "out" / "trace_view.json").read_bytes() == made["adapter"].read_bytes()
    assert account.is_whole


def written(folder: Path, content: bytes, name: str = "trace_view.json") -> Path:
    folder.mkdir()
    (folder / name).write_bytes(content)
    # Something of the profile is migrated, so that the rest is copied.
    (folder / "communication.json").write_text('{"step1": {"p2p": {}, "collective": {}}}')
    return folder


NAMES = (
    b'{"name": "process_name", "pid": 3294881216, "tid": 0, "ph": "M", "args": {"name": "Ascend '
    b'Hardware"}}, {"name": "process_labels", "pid": 3294881216, "tid": 0, "ph": "M", "args": '
    b'{"labels": "NPU 0"}}'
)
TASK = (
    b'{"name": "PROFILING_ENABLE", "pid": 3294881216, "tid": 0, "ts": "1767258000006000.000", '
    b'"dur": 0.0, "ph": "X", "args": {"Model Id": 4294967295, "Task Type": "PROFILING_ENABLE", '
    b'"Physic Stream Id": 0, "Task Id": 107, "Batch Id": 0, "Subtask Id": 4294967295, '
    b'"connection_id": 1478}}'
)


@pytest.mark.parametrize(
    ("content", "writer", "words"),
    [
        (b"[%b, %b" % (NAMES, TASK), "adapter-2025-01", "its tail is missing"),
        (b"[%b, %b" % (NAMES, TASK[:-20]), "adapter-2025-01", "its tail is missing"),
        (b"\xef\xbb\xbf[%b]" % NAMES, "adapter-2025-01", "byte order mark"),
        (b"[%b, 7, [], %b]" % (NAMES, TASK), "adapter-2025-01", "2 elements are no events"),
        (b'[%b, {"ts": NaN}]' % NAMES, "adapter-2025-01", "byte"),
        (b"[%b] []" % NAMES, "adapter-2025-01", "something follows"),
        (b"[%b]" % NAMES, "adapter-2025-12", "no timeline of adapter-2025-12 is known"),
    ],
)
def test_what_is_broken_or_has_no_form_is_copied_and_stated(
    content: bytes, writer: str, words: str, tmp_path: Path
) -> None:
    profile = written(tmp_path / "run", content)
    account = migrate(profile, writer, tmp_path / "out")
    found = one_of(account, "trace_view.json")
    assert found.fate == "refused"
    assert words in found.why
    assert len(found.why) <= 600
    assert (tmp_path / "out/run/trace_view.json").read_bytes() == content
    assert not account.is_whole


def test_two_processes_do_not_become_one(tmp_path: Path) -> None:
    """One that is no layer has the number that Ascend Hardware has in 2025-01."""
    mine = b'{"ph":"X","name":"mine","pid":3294881184,"tid":1,"ts":"1.000","dur":1}'
    profile = written(tmp_path / "run", b"[%b, %b, %b]" % (NAMES, TASK, mine))
    account = migrate(profile, "adapter-2025-01", tmp_path / "out")
    assert "pid 3294881184" in one_of(account, "trace_view.json").why


def test_times_of_another_clock_are_not_converted(tmp_path: Path) -> None:
    source = DATA / "text/mindspore_legacy/msprof_0_2_1.json"
    if not source.is_file():
        pytest.skip(f"needs the real profiles of {DATA}")
    with pytest.raises(NotMigrated, match="by two clocks"):
        migrate(source, "python", tmp_path / "out")
    with pytest.raises(NotMigrated, match="no generation of cpp"):
        migrate(source, "cpp", tmp_path / "out")


def test_layers_that_the_target_does_not_have_are_lost_and_unknown_ones_are_kept(
    tmp_path: Path,
) -> None:
    """And what stands between events stays, as does all around them."""
    hccs = TASK.replace(b"3294881216", b"3294881408")
    names = NAMES.replace(b"3294881216", b"3294881408").replace(b"Ascend Hardware", b"HCCS")
    mine = b'{"ph":"X","name":"mine","pid":7,"tid":1,"ts":"1.000","dur":1,"mine":{"a":[1, 2]}}'
    content = b'{"displayTimeUnit": "ns",\n "traceEvents": [\n%b,\n%b,\n%b,\n%b\n, %b]}\n' % (
        *(names, NAMES, TASK, hccs, mine),
    )
    profile = written(tmp_path / "run", content)
    account = migrate(profile, "adapter-2025-01", tmp_path / "out")
    lost = {
        one.place: (one.words, one.count)
        for one in one_of(account, "trace_view.json").entries
        if one.effect == "lost"
    }
    assert lost == {"trace_view.json: HCCS": ("no layer of adapter-2025-01", 3)}
    out = (tmp_path / "out/run/trace_view.json").read_bytes()
    assert out.startswith(b'{"displayTimeUnit": "ns",\n "traceEvents": [\n{"name": "process_name"')
    assert out.endswith(b"\n, %b]}\n" % mine)
    assert [one["name"] for one in json.loads(out)["traceEvents"]] == [
        *("process_name", "process_labels", "PROFILING_ENABLE", "mine")
    ]


def test_the_keys_of_copies_go_on_under_their_other_names(tmp_path: Path) -> None:
    """As the engines print them (text-outputs.md 6)."""
    copy = TASK.replace(b"PROFILING_ENABLE", b"MEMCPY_ASYNC").replace(
        b"1478}", b'1478, "size(B)": 4096, "bandwidth(GB/s)": 12.5, "operation": "host to device"}'
    )
    profile = written(tmp_path / "run", b"[%b, %b]" % (NAMES, copy))
    account = migrate(profile, "adapter-2025-01", tmp_path / "out")
    (made,) = (one for one in events(tmp_path / "out/run/trace_view.json") if one["ph"] == "X")
    args = made["args"]
    assert list(args)[-2:] == ["data size(Byte)", "memcpy direction"]
    assert (args["data size(Byte)"], args["memcpy direction"]) == (4096, "host to device")
    entries = {(one.effect, one.place) for one in one_of(account, "trace_view.json").entries}
    place = "trace_view.json: Ascend Hardware/memcpy"
    assert {
        ("renamed", f"{place}: data size(Byte)"),
        ("renamed", f"{place}: memcpy direction"),
        ("lost", f"{place}: bandwidth(GB/s)"),
    } <= entries


SCOPES = (
    ({"name": "process_name", "pid": 3, "args": {"name": "Scope Layer"}}, "name"),
    ({"name": "process_sort_index", "pid": 3, "args": {"sort_index": 12}}, "sort_index"),
    ({"name": "thread_name", "pid": 3, "args": {"name": "Thread 1"}}, "name"),
)


def test_scopes_have_other_names_and_numbers_in_early_files(tmp_path: Path) -> None:
    """As the viewers of MindSpore have them: their sources, AscendTimelineAssembler."""
    metadata = [
        {"ph": "M", **event, "tid": 1 if "thread" in str(event) else 0} for event, _ in SCOPES
    ]
    framework = [
        {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "MindSpore"}},
        {"ph": "M", "name": "process_labels", "pid": 1, "tid": 0, "args": {"labels": "CPU"}},
    ]
    scope = {"ph": "X", "name": "Default", "pid": 3, "tid": 1, "ts": "1.000", "dur": "2.000"}
    every = [*framework, *metadata, {**scope, "cat": "", "args": {}}]
    for one in every:
        if one["ph"] == "M":
            one.update({key: one.pop(key) for key in ("pid", "tid", "args")})
    profile = written(tmp_path / "run", json.dumps(every).encode())
    account = migrate(profile, "viewer-2024", tmp_path / "out")
    found = [one for one in events(tmp_path / "out/run/trace_view.json") if one["pid"] != 1]
    assert [one["pid"] for one in found] == [4, 4, 4, 4]
    values = [next(iter(one["args"].values())) for one in found[:3]]
    assert values == ["Scope Layer", 4, "layer1"]
    assert one_of(account, "trace_view.json").lost == 0
    migrate(tmp_path / "out/run", "viewer", tmp_path / "back")
    again = tmp_path / "back/run/trace_view.json"
    assert again.read_bytes() == (profile / "trace_view.json").read_bytes()


PEAK = """
import sys
from ascend_ref.cli import main
main(["migrate", sys.argv[1], "--to", "adapter-2025-01", "-o", sys.argv[1] + ".migrated"])
status = open("/proc/self/status").read()
print(status.partition("VmHWM:")[2].split()[0])
"""


@pytest.mark.exhaustive
def test_memory_does_not_grow_with_the_timeline(made: dict[str, Path], tmp_path: Path) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("needs the peaks of memory that Linux states")
    content = made["adapter"].read_bytes()[1:-1]
    peaks = []
    for times in (2, 20):
        path = tmp_path / str(times) / "trace_view.json"
        path.parent.mkdir()
        path.write_bytes(b"[" + b", ".join([content] * times) + b"]")
        words = [sys.executable, "-c", PEAK, str(path)]
        run = subprocess.run(words, capture_output=True, check=True)
        peaks.append(int(run.stdout.split()[-1]))
    assert peaks[1] - peaks[0] < 10_000, "KB more for ten times the events"
