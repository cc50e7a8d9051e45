"""JSON documents: of collectives, of links and of the capture."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from typing import Any

from damaged_profiles import Folder
from exporter_defects import Inapplicable, defect

from .cells import HOURS_8_US


def _operations(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Collectives of communication.json, by name."""
    for step in value.values():
        for kind in ("p2p", "collective"):
            yield from step[kind].items()


def _times(value: Any) -> Iterator[dict[str, Any]]:
    for _, one in _operations(value):
        yield one["Communication Time Info"]


def _bandwidths(value: Any) -> Iterator[dict[str, Any]]:
    for _, one in _operations(value):
        yield from one["Communication Bandwidth Info"].values()


def _document(
    name: str, seen_by: str, file: str = "communication.json"
) -> Callable[[Callable[[Any], object]], None]:
    """Register a defect that changes a document in place."""

    def register(change: Callable[[Any], object]) -> None:
        def apply(folder: Folder) -> None:
            folder.document(file, change)

        apply.__doc__ = change.__doc__
        defect("document", seen_by, name)(apply)

    return register


@_document("collective-starts-in-local-time", "it lies hours outside all other files")
def _starts_local(value: Any) -> None:
    """Local time is written as if it were UTC."""
    for one in _times(value):
        if one.get("Start Timestamp(us)"):
            one["Start Timestamp(us)"] += HOURS_8_US


@_document("collective-starts-in-ms", "it lies decades outside all other files")
def _starts_ms(value: Any) -> None:
    """Milliseconds are written under a name that says us."""
    for one in _times(value):
        if one.get("Start Timestamp(us)"):
            one["Start Timestamp(us)"] /= 1000


@_document("collective-elapse-in-us", "elapsed is not the sum of its parts")
def _elapse_us(value: Any) -> None:
    """Microseconds are written under a name that says ms."""
    for one in _times(value):
        one["Elapse Time(ms)"] *= 1000


@_document("collective-all-times-in-us", "elapsed is longer than the step")
def _all_us(value: Any) -> None:
    """Microseconds are written under names that say ms."""
    for one in _times(value):
        for name in one:
            if name.endswith("(ms)"):
                one[name] *= 1000


@_document("collective-wait-and-transit-exchanged", "the ratio of waiting is not of these times")
def _wait_transit(value: Any) -> None:
    """Two members are written under each other's name."""
    for one in _times(value):
        one["Wait Time(ms)"], one["Transit Time(ms)"] = (
            one["Transit Time(ms)"],
            one["Wait Time(ms)"],
        )


@_document("collective-wait-ratio-in-percent", "a share above one")
def _ratio_percent(value: Any) -> None:
    """Fractions are written in percent."""
    for one in _times(value):
        one["Wait Time Ratio"] *= 100


@_document("collective-synchronisation-longer-than-wait", "a part is more than the whole")
def _synchronisation(value: Any) -> None:
    """Synchronisation and waiting are exchanged in their sums."""
    for one in _times(value):
        one["Synchronization Time(ms)"] = one["Wait Time(ms)"] + one["Transit Time(ms)"] + 0.01


@_document("collective-sizes-in-bytes", "size divided by time is not the bandwidth")
def _sizes_bytes(value: Any) -> None:
    """Bytes are written under a name that says MB."""
    for one in _bandwidths(value):
        one["Transit Size(MB)"] *= 1_000_000


@_document("collective-sizes-in-mebibytes", "size divided by time is not the bandwidth")
def _sizes_mebi(value: Any) -> None:
    """Mebibytes are written as megabytes, which the bandwidth is not."""
    for one in _bandwidths(value):
        one["Transit Size(MB)"] *= 1_000_000 / 1_048_576


@_document("collective-bandwidth-in-mb", "size divided by time is not the bandwidth")
def _bandwidth_mb(value: Any) -> None:
    """MB/s are written under a name that says GB/s."""
    for one in _bandwidths(value):
        if one.get("Bandwidth(GB/s)"):
            one["Bandwidth(GB/s)"] *= 1000


@_document("collective-distribution-of-another", "the distribution does not sum to the size")
def _distribution(value: Any) -> None:
    """Counts of packets are taken twice."""
    for one in _bandwidths(value):
        for entry in one["Size Distribution"].values():
            entry[0] *= 2


@_document("collective-transports-exchanged", "SDMA is the sum of HCCS, PCIE and SIO")
def _transports(value: Any) -> None:
    """RDMA and HCCS are exchanged."""
    for _, one in _operations(value):
        bandwidths = one["Communication Bandwidth Info"]
        bandwidths["RDMA"], bandwidths["HCCS"] = bandwidths["HCCS"], bandwidths["RDMA"]


@_document("collective-totals-without-the-last", "the total is not the sum of the operations")
def _totals(value: Any) -> None:
    """The last collective is not added."""
    for step in value.values():
        names = [name for name in step["collective"] if not name.startswith("Total")]
        if len(names) > 1:
            del step["collective"][names[-1]]


@_document("collective-step-off-by-one", "other files have no such step")
def _step_off(value: Any) -> None:
    """Steps are counted from 0 in one file and from 1 in another."""
    for name in list(value):
        found = re.fullmatch(r"step(\d+)", name)
        if found:
            value[f"step{int(found[1]) + 1}"] = value.pop(name)


@_document("collective-without-group", "the name ends in a group in all other files")
def _groupless(value: Any) -> None:
    """The hash of the group is not appended."""
    for step in value.values():
        for kind in ("p2p", "collective"):
            step[kind] = {name.partition("@")[0]: one for name, one in step[kind].items()}


@_document("collective-group-differs", "the matrix has another group")
def _other_group(value: Any) -> None:
    """The hash of the group is taken with another sign."""
    for step in value.values():
        for kind in ("p2p", "collective"):
            step[kind] = {
                re.sub(r"@(\d+)", lambda m: f"@{(1 << 64) - int(m[1])}", name): one
                for name, one in step[kind].items()
            }


@_document("collective-times-of-the-next", "starts are not in the order of the names' numbers")
def _times_of_next(value: Any) -> None:
    """Times are joined one operation too late."""
    listed = [one for name, one in _operations(value) if not name.startswith("Total")]
    infos = [one["Communication Time Info"] for one in listed]
    if len(infos) < 2:
        raise Inapplicable
    for one, info in zip(listed, [*infos[1:], infos[0]], strict=True):
        one["Communication Time Info"] = info


def _links(value: Any) -> Iterator[dict[str, dict[str, Any]]]:
    """Links of each operation of communication_matrix.json."""
    for step in value.values():
        for kind in ("p2p", "collective"):
            yield from step[kind].values()


MATRIX = "communication_matrix.json"


@_document("matrix-json-source-and-destination-exchanged", "links of one rank start at it", MATRIX)
def _matrix_transposed(value: Any) -> None:
    """The matrix is transposed."""
    for links in _links(value):
        found = {"-".join(reversed(name.split("-"))): one for name, one in links.items()}
        links.clear()
        links.update(found)


@_document("matrix-json-bandwidth-in-mb", "size divided by time is not the bandwidth", MATRIX)
def _matrix_bandwidth(value: Any) -> None:
    """MB/s are written under a name that says GB/s."""
    for links in _links(value):
        for one in links.values():
            one["Bandwidth(GB/s)"] *= 1000


@_document("matrix-json-sizes-in-bytes", "size divided by time is not the bandwidth", MATRIX)
def _matrix_sizes(value: Any) -> None:
    """Bytes are written under a name that says MB."""
    for links in _links(value):
        for one in links.values():
            one["Transit Size(MB)"] *= 1_000_000


@_document("matrix-json-times-in-us", "size divided by time is not the bandwidth", MATRIX)
def _matrix_times(value: Any) -> None:
    """Microseconds are written under a name that says ms."""
    for links in _links(value):
        for one in links.values():
            one["Transit Time(ms)"] *= 1000


@_document("matrix-json-local-for-remote", "a link to another rank is not local", MATRIX)
def _matrix_local(value: Any) -> None:
    """The type of the link is taken of the first."""
    for links in _links(value):
        for one in links.values():
            one["Transport Type"] = "LOCAL"


@_document("matrix-json-without-total", "the operations are not summed", MATRIX)
def _matrix_totals(value: Any) -> None:
    """The sums are not written."""
    for step in value.values():
        for kind in ("p2p", "collective"):
            for name in [name for name in step[kind] if "-total@" in name]:
                del step[kind][name]


@_document("matrix-json-operation-of-another", "communication.json has no such operation", MATRIX)
def _matrix_names(value: Any) -> None:
    """Operations are numbered from 1."""
    for links in _links(value):
        for one in links.values():
            one["Op Name"] = re.sub(
                r"_(\d+)_1$", lambda m: f"_{int(m[1]) + 1000}_1", one.get("Op Name", "")
            )


@_document("profiler-info-of-another-rank", "the name of the file has another rank", "profiler_i*")
def _info_rank(value: Any) -> None:
    """The file is of another rank."""
    if "rank_id" not in value:
        raise Inapplicable
    rank = value["rank_id"]  # a later analysis writes it as a text
    value["rank_id"] = type(rank)(int(rank) + 3)


@_document("profiler-info-ends-before-its-start", "the capture ends before its data", "profiler_i*")
def _info_end(value: Any) -> None:
    """The end is written in us."""
    value["end_info"]["collectionTimeEnd"] //= 1000


@_document("profiler-info-level-as-number", "a level is a word", "profiler_i*")
def _info_level(value: Any) -> None:
    """The number of an enum is written instead of its name."""
    value["config"]["experimental_config"]["_profiler_level"] = 1


@_document("metadata-rank-outside-its-group", "a rank is one of its groups' ranks", "profiler_m*")
def _metadata_rank(value: Any) -> None:
    """Groups are those of another rank."""
    groups = value.get("parallel_group_info")
    if not groups:
        raise Inapplicable
    for one in groups.values():
        one["global_ranks"] = [rank + 8 for rank in one["global_ranks"]]


@_document("metadata-group-rank-off-by-one", "group_rank is the place in the list", "profiler_m*")
def _metadata_group_rank(value: Any) -> None:
    """Ranks of groups are counted from 1."""
    groups = value.get("parallel_group_info")
    if not groups:
        raise Inapplicable
    for one in groups.values():
        one["group_rank"] += 1


@defect("document", "the document ends in the middle")
def communication_cut(folder: Folder) -> None:
    """The disk is full."""
    path = folder.files("communication.json")[0]
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


@defect("document", "NaN is no JSON")
def communication_with_nan(folder: Folder) -> None:
    """A division by zero is printed."""
    path = folder.files("communication.json")[0]
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r'("Bandwidth\(GB/s\)": )0(\.0)?\b', r"\1NaN", text), encoding="utf-8")


@defect("document", "the matrix and the operations are one file under two names")
def matrix_in_place_of_operations(folder: Folder) -> None:
    """Two files are written from one variable."""
    target = folder.files("communication.json")[0]
    shutil.copyfile(folder.files("communication_matrix.json")[0], target)


@defect("document", "all operations are in one step, kernels in several")
def collectives_of_all_steps_in_the_first(folder: Folder) -> None:
    """The step of a collective is not looked up."""
    path = folder.files("communication.json")[0]
    value = json.loads(path.read_text(encoding="utf-8"))
    if len(value) < 2:
        raise Inapplicable
    first, *others = value
    for other in others:
        for kind in ("p2p", "collective"):
            value[first][kind] = {**value[other][kind], **value[first][kind]}
        del value[other]
    path.write_text(json.dumps(value), encoding="utf-8")
