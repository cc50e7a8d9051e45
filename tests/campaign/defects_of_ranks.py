"""Defects of profiles of several ranks, as exporters and those who gather their files make them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from damaged_profiles import Database, Folder, Row, Timeline, later
from exporter_defects import Inapplicable, defect

OUTPUT = "ASCEND_PROFILER_OUTPUT"


def _ranks(folder: Folder) -> list[Path]:
    """The folders of the ranks: those that hold profiler_info, or a database."""
    found = sorted({path.parent for path in folder.path.rglob("profiler_info_*.json")})
    if len(found) < 2:
        raise Inapplicable
    return found


def _first_two(folder: Folder) -> tuple[Path, Path]:
    first, second, *_ = _ranks(folder)
    return first, second


def _number(rank: Path) -> str:
    return next(rank.glob("profiler_info_*.json")).stem.rpartition("_")[2]


def _replace_whole(source: Path, target: Path) -> None:
    """The files of one rank under the names of another."""
    old, new = _number(source), _number(target)
    shutil.rmtree(target)
    for path in sorted(one for one in source.rglob("*") if one.is_file()):
        name = re.sub(rf"_{old}(\.json|\.db)$", rf"_{new}\1", path.name)
        place = target / path.relative_to(source).parent / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)


def _state_rank(rank: Path, number: str) -> None:
    for path in rank.glob("profiler_info_*.json"):
        value = json.loads(path.read_text(encoding="utf-8"))
        value["rank_id"] = int(number)
        path.write_text(json.dumps(value), encoding="utf-8")
    for path in rank.rglob("ascend_pytorch_*.db"):
        Database(path).change(f"UPDATE RANK_DEVICE_MAP SET rankId = {number}")


@defect("ranks", "tasks of two ranks start in the same nanoseconds")
def rank_copied_as_another(folder: Folder) -> None:
    """A rank's folder is copied and renumbered where another is missing."""
    first, second = _first_two(folder)
    number = _number(second)
    _replace_whole(first, second)
    _state_rank(second, number)


@defect("ranks", "tasks of two ranks start in the same nanoseconds")
def rank_copied_under_its_name(folder: Folder) -> None:
    """The files of a rank are copied, and only their names changed."""
    first, second = _first_two(folder)
    _replace_whole(first, second)


@defect("ranks", None)
def folder_copied(folder: Folder) -> None:
    """A folder is there twice, as somebody keeps a copy: no file is wrong."""
    first, _ = _first_two(folder)
    shutil.copytree(first, first.with_name(first.name + "_copy"))


@defect("ranks", "tasks of two ranks start in the same nanoseconds")
def data_of_a_rank_copied(folder: Folder) -> None:
    """Of two ranks the data are those of the first; names, rank and device are their own."""
    first, second = _first_two(folder)
    info = {path.name: path.read_bytes() for path in second.glob("*.json")}
    number = _number(second)
    _replace_whole(first, second)
    for name, content in info.items():
        (second / name).write_bytes(content)
    for path in second.rglob("ascend_pytorch_*.db"):
        Database(path).change(f"UPDATE RANK_DEVICE_MAP SET rankId = {number}")


FILES = (
    "kernel_details.csv",
    "op_statistic.csv",
    "api_statistic.csv",
    "step_trace_time.csv",
    "operator_memory.csv",
    "memory_record.csv",
    "npu_module_mem.csv",
    "operator_details.csv",
    "task_time.csv",
    "l2_cache.csv",
    "communication.json",
    "communication_matrix.json",
    "trace_view.json",
    "analysis.db",
    "profiler_metadata.json",
)


def _one_file(name: str) -> None:
    stem = re.sub(r"[._]", "-", name)

    @defect("ranks", "it does not fit the other files of its folder", f"{stem}-of-another-rank")
    def of_another(folder: Folder) -> None:
        """A file of another rank lies in the folder."""
        first, second = _first_two(folder)
        others = [path for path in second.rglob("*") if path.is_file() and path.suffix != ".bin"]
        source = next(first.rglob(name), None)
        target = next(second.rglob(name), None)
        if source is None or target is None or len(others) < 2:
            raise Inapplicable
        if source.read_bytes() == target.read_bytes():
            raise Inapplicable
        shutil.copyfile(source, target)


for _name in FILES:
    _one_file(_name)


@defect("ranks", "the name of the file has another rank")
def profiler_info_exchanged(folder: Folder) -> None:
    """Two ranks have each other's profiler_info, under their own names."""
    first, second = _first_two(folder)
    one, other = (next(rank.glob("profiler_info_*.json")) for rank in (first, second))
    left, right = one.read_bytes(), other.read_bytes()
    one.write_bytes(right)
    other.write_bytes(left)


@defect("ranks", "two profiles of one rank take part in the same collective")
def two_profiles_of_one_rank(folder: Folder) -> None:
    """The number of the rank is that of the process on its host."""
    first, second = _first_two(folder)
    number = _number(first)
    _state_rank(second, number)
    for path in [*second.glob("profiler_info_*.json"), *second.rglob("ascend_pytorch_*.db")]:
        path.rename(path.with_name(re.sub(r"_\d+(\.\w+)$", rf"_{number}\1", path.name)))


def _in_second(
    folder: Folder,
    statements: Sequence[str],
    of_event: Callable[[dict[str, Any]], None] | None = None,
) -> None:
    """Change the databases, or the operators of the layer Communication, of the second rank."""
    _, second = _first_two(folder)
    changed = False
    for path in second.rglob("ascend_pytorch_*.db"):
        Database(path).change(*statements)
        changed = True
    for path in second.rglob("trace_view.json") if of_event else ():
        timeline = Timeline(path)
        try:
            events = timeline.layer("Communication")
        except Inapplicable:
            events = timeline.layer("HCCL")
        for event in events:
            if of_event and "count" in event["args"]:
                of_event(event["args"])
        timeline.write()
        changed = True
    if not changed:
        raise Inapplicable


@defect("ranks", "all ranks reduce as many elements")
def counts_of_a_rank_doubled(folder: Folder) -> None:
    """Counts are in other units on one rank."""
    _in_second(
        folder,
        ["UPDATE COMMUNICATION_OP SET count = count * 2"],
        lambda args: args.update(count=args["count"] * 2),
    )


@defect("ranks", "all ranks reduce as many elements")
def counts_of_a_rank_of_the_next(folder: Folder) -> None:
    """Counts are joined one collective too late on one rank."""
    kept: list[int] = []

    def change(args: dict[str, Any]) -> None:
        args["count"], kept[:] = (kept[0] if kept else 512), [args["count"]]

    _in_second(
        folder,
        [
            "UPDATE COMMUNICATION_OP SET count = coalesce((SELECT o.count FROM COMMUNICATION_OP o"
            " WHERE o.rowid = COMMUNICATION_OP.rowid - 1), 512)"
        ],
        change,
    )


@defect("ranks", "all ranks reduce the same type")
def data_types_of_a_rank_differ(folder: Folder) -> None:
    """The data type is taken of another enum on one rank."""
    _in_second(
        folder,
        ["UPDATE COMMUNICATION_OP SET dataType = CASE dataType WHEN 4 THEN 3 ELSE 4 END"],
        lambda args: args.update(data_type="FP32" if args["data_type"] != "FP32" else "FP16"),
    )


@defect("ranks", "other ranks call the group of the operator otherwise")
def group_of_a_rank_renamed(folder: Folder) -> None:
    """A name of a group is resolved to another on one rank."""
    _in_second(
        folder,
        [
            "UPDATE STRING_IDS SET value = value || '9' WHERE id IN"
            " (SELECT groupName FROM COMMUNICATION_OP)"
        ],
    )


@defect("ranks", None)
def clock_of_a_rank_five_seconds_late(folder: Folder) -> None:
    """The clock of one rank is off: its capture may as well be of a later step."""
    _in_second(
        folder,
        [
            "UPDATE TASK SET startNs = startNs + 5000000000, endNs = endNs + 5000000000",
            "UPDATE COMMUNICATION_OP SET startNs = startNs + 5000000000,"
            " endNs = endNs + 5000000000",
        ],
    )


@defect("ranks", "tasks start hours outside the host's calls")
def device_clock_of_a_rank_in_local_time(folder: Folder) -> None:
    """The clock of one rank's device is converted with the time zone."""
    _, second = _first_two(folder)
    changed = False
    for path in second.rglob("ascend_pytorch_*.db"):
        late = 8 * 3600 * 10**9
        Database(path).change(f"UPDATE TASK SET startNs = startNs + {late}, endNs = endNs + {late}")
        changed = True
    for path in second.rglob("trace_view.json"):
        timeline = Timeline(path)
        for event in timeline.layer("Ascend Hardware"):
            event["ts"] = later(event["ts"], 8 * 3600 * 1e6)
        timeline.write()
        changed = True
    if not changed:
        raise Inapplicable


@defect("ranks", "the devices of the tables differ")
def tasks_of_a_rank_on_the_device_of_another(folder: Folder) -> None:
    """Device ids are numbers of ranks in one table."""
    _in_second(folder, ["UPDATE TASK SET deviceId = deviceId + 3"])


@defect("ranks", "the devices of the files differ")
def kernels_of_a_rank_on_the_device_of_another(folder: Folder) -> None:
    """Device ids are numbers of ranks in one file."""
    _, second = _first_two(folder)

    def change(row: Row) -> None:
        row["Device_id"] = str(int(row["Device_id"]) + 3)

    Folder(second).each("kernel_details.csv", change)


def _change_metadata(rank: Path, name: str, change: Callable[[Any], None]) -> None:
    """Change what profiler_metadata.json, and META_DATA, state under a name."""
    path = next(rank.glob("profiler_metadata.json"), None)
    if path is None:
        raise Inapplicable
    value = json.loads(path.read_text(encoding="utf-8"))
    if name not in value:
        raise Inapplicable
    change(value[name])
    path.write_text(json.dumps(value), encoding="utf-8")
    for database in rank.rglob("ascend_pytorch_*.db"):
        text = json.dumps(value[name]).replace("'", "''")
        Database(database).change(f"UPDATE META_DATA SET value = '{text}' WHERE name = '{name}'")


@defect("ranks", "the ranks of a group are the same on all of them")
def group_has_other_ranks_on_a_rank(folder: Folder) -> None:
    """The ranks of a group are numbered within the host on one rank."""

    def change(groups: Any) -> None:
        for one in groups.values():
            ranks = one["global_ranks"]
            if len(ranks) > 1:
                others = [rank for rank in range(64) if rank not in ranks]
                ranks[(one["group_rank"] + 1) % len(ranks)] = others[0]

    _change_metadata(_first_two(folder)[1], "parallel_group_info", change)


@defect("ranks", "all ranks are of one world")
def world_of_a_rank_is_larger(folder: Folder) -> None:
    """The size of the world is that of another job on one rank."""

    def change(stated: Any) -> None:
        stated["world_size"] *= 2

    _change_metadata(_first_two(folder)[1], "distributed_args", change)


@defect("ranks", "a link of one rank starts or ends at it")
def matrix_of_a_rank_names_others(folder: Folder) -> None:
    """Links are numbered by the ranks of the group on one rank."""
    _, second = _first_two(folder)
    number = int(_number(second))

    def change(value: Any) -> None:
        for step in value.values():
            for kind in ("p2p", "collective"):
                for name, links in step[kind].items():
                    step[kind][name] = {
                        "-".join(str(int(end) + number + 8) for end in link.split("-")): one
                        for link, one in links.items()
                    }

    Folder(second).document("communication_matrix.json", change)


@defect("ranks", "transfers go to ranks outside the group")
def transfers_of_a_rank_start_at_another(folder: Folder) -> None:
    """Ranks of transfers are counted from 1 on one rank."""
    _in_second(
        folder,
        [
            "UPDATE COMMUNICATION_TASK_INFO SET srcRank = srcRank + 1 WHERE srcRank < 4294967295",
            "UPDATE COMMUNICATION_TASK_INFO SET dstRank = dstRank + 1 WHERE dstRank < 4294967295",
        ],
    )


@defect("ranks", "names of operators do not contain their types")
def operators_of_a_rank_of_another_kind(folder: Folder) -> None:
    """Names of collectives are of another kind on one rank."""
    _in_second(
        folder,
        [
            "UPDATE STRING_IDS SET value = replace(value, 'allReduce', 'broadcast')"
            " WHERE value GLOB 'hcom_allReduce__*'"
        ],
    )
