"""The whole file."""

from __future__ import annotations

from damaged_profiles import Timeline
from exporter_defects import defect


@defect("timeline", "events end in the middle of the capture")
def timeline_ends_early(timeline: Timeline) -> None:
    """The last part of the events is lost."""
    del timeline.all[len(timeline.all) * 6 // 7 :]
    timeline.write()


@defect("timeline", "layers have no names")
def layers_without_names(timeline: Timeline) -> None:
    """Names of processes are not written."""
    timeline.all[:] = [one for one in timeline.all if one.get("name") != "process_name"]
    timeline.write()


@defect("timeline", "slices of the device carry the number of another layer")
def layers_with_one_number(timeline: Timeline) -> None:
    """The number of the process is not packed with that of the layer."""
    device = timeline.layer("Ascend Hardware")[0]["pid"]
    host = timeline.layer("CANN")[0]["pid"]
    for one in timeline.all:
        if one["pid"] == host:
            one["pid"] = device
    timeline.write()


@defect("timeline", "times have six decimals that no clock has")
def times_in_seconds(timeline: Timeline) -> None:
    """Seconds are written where us belong."""
    for one in timeline.all:
        if "ts" in one:
            one["ts"] = f"{float(one['ts']) / 1e6:.6f}"
    timeline.write()


@defect("timeline", "times are the same for neighbours that differ")
def times_as_single_precision(timeline: Timeline) -> None:
    """Times pass through floating point of single precision."""
    for one in timeline.all:
        if "ts" in one:
            whole = int(float(one["ts"]))
            one["ts"] = f"{whole // 131072 * 131072}.000"
    timeline.write()


@defect("timeline", "threads without a name")
def threads_without_names(timeline: Timeline) -> None:
    """Names of threads are not written."""
    timeline.all[:] = [one for one in timeline.all if one.get("name") != "thread_name"]
    timeline.write()


@defect("timeline", "the document ends in the middle")
def timeline_cut(timeline: Timeline) -> None:
    """The disk is full."""
    data = timeline.path.read_bytes()
    timeline.path.write_bytes(data[: len(data) * 2 // 3])


@defect("timeline", "times are numbers of floating point, which lose digits")
def times_as_numbers(timeline: Timeline) -> None:
    """Numbers are printed where texts belong."""
    for one in timeline.all:
        if "ts" in one:
            one["ts"] = float(one["ts"])
    timeline.write()
