"""Defects of timelines, as exporters make them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from damaged_profiles import Event, Timeline, later
from exporter_defects import Inapplicable, defect

HOURS_8_US = 8 * 3600 * 1_000_000

LAYERS = {
    "python": "Python",
    "cann": "CANN",
    "hardware": "Ascend Hardware",
    "communication": ("HCCL", "Communication"),
    "overlap": "Overlap Analysis",
    "hbm": "HBM",
    "llc": "LLC",
    "npu-mem": "NPU MEM",
    "qos": "QoS",
    "acc-pmu": "Acc PMU",
    "soc": "Stars Soc Info",
    "freq": "AI Core Freq",
}
"""Layers by a short name."""

COLLECTIVES = LAYERS["communication"]


def _layer(timeline: Timeline, names: str | Sequence[str], phases: str) -> list[Event]:
    wanted = (names,) if isinstance(names, str) else names
    for name in wanted[:-1]:
        try:
            return timeline.layer(name, phases)
        except Inapplicable:
            continue
    return timeline.layer(wanted[-1], phases)


def _register(
    name: str, seen_by: str, names: str | Sequence[str], change: Callable[[Event], object]
) -> None:
    """Register a defect that changes each slice, sample and arrow end of a layer."""

    def apply(timeline: Timeline) -> None:
        for event in _layer(timeline, names, "XCsf"):
            change(event)
        timeline.write()

    apply.__doc__ = change.__doc__
    defect("timeline", seen_by, name)(apply)


def _shift(event: Event, by_us: float) -> None:
    event["ts"] = later(event["ts"], by_us)


def _change_text(event: Event, name: str, pattern: str, by: str) -> None:
    event[name] = re.sub(pattern, by, event[name])


def _clocks(label: str, names: str | Sequence[str]) -> None:
    def local(event: Event) -> None:
        """Local time is written as if it were UTC."""
        _shift(event, HOURS_8_US)

    def in_ms(event: Event) -> None:
        """Milliseconds are written where us belong."""
        event["ts"] = f"{int(float(event['ts'])) // 1000}.000"

    _register(f"{label}-layer-in-local-time", "it lies hours outside the others", names, local)
    _register(f"{label}-layer-in-ms", "it lies decades outside the others", names, in_ms)


for _label, _names in LAYERS.items():
    _clocks(_label, _names)


def _on(
    names: str | Sequence[str], seen_by: str, phases: str = "X"
) -> Callable[[Callable[[list[Event]], object]], None]:
    """Register a defect that changes the events of a layer; what it returns is left of them."""

    def register(change: Callable[[list[Event]], object]) -> None:
        def apply(timeline: Timeline) -> None:
            events = _layer(timeline, names, phases)
            left = change(events)
            if isinstance(left, list):
                _replace(timeline, events, left)
            timeline.write()

        apply.__doc__ = change.__doc__
        defect("timeline", seen_by, change.__name__.strip("_").replace("_", "-"))(apply)

    return register


def _replace(timeline: Timeline, events: Iterable[Event], left: Iterable[Event]) -> None:
    """Keep of these events only what is left, and append what is new."""
    gone = {id(one) for one in events}
    kept = {id(one) for one in left}
    new = [one for one in left if id(one) not in gone]
    timeline.all[:] = [one for one in timeline.all if id(one) not in gone or id(one) in kept] + new


def _next_values(events: Sequence[Event], *path: str) -> None:
    """Each event gets the value of the next."""
    holders = [event for event in events for _ in (0,) if _holds(event, path)]
    values = [_inside(event, path)[path[-1]] for event in holders]
    if len(set(map(str, values))) < 2:
        raise Inapplicable
    for event, value in zip(holders, [*values[1:], values[0]], strict=True):
        _inside(event, path)[path[-1]] = value


def _inside(event: Event, path: Sequence[str]) -> Event:
    for name in path[:-1]:
        event = event[name]
    return event


def _holds(event: Event, path: Sequence[str]) -> bool:
    for name in path[:-1]:
        event = event.get(name, {})
    return path[-1] in event


# Slices of the device.


@_on("Ascend Hardware", "tasks of one stream overlap")
def hardware_lengths_in_ns(events: list[Event]) -> None:
    """Durations are written in ns."""
    for event in events:
        event["dur"] *= 1000


@_on("Ascend Hardware", "the computing time is longer than all kernels")
def hardware_lengths_in_ms(events: list[Event]) -> None:
    """Durations are written in ms."""
    for event in events:
        event["dur"] = round(event["dur"] / 1000, 6)


@_on("Ascend Hardware", "tasks of one stream overlap")
def hardware_ends_for_lengths(events: list[Event]) -> None:
    """The end is written under the name of the length."""
    for event in events:
        event["dur"] = float(event["ts"]) + event["dur"]


@_on("Ascend Hardware", "the computing time has no tasks")
def hardware_second_half_lost(events: list[Event]) -> list[Event]:
    """A slice of records is lost."""
    return events[: len(events) // 2]


@_on("Ascend Hardware", "arrows end at tasks that are absent")
def hardware_every_tenth_task_lost(events: list[Event]) -> list[Event]:
    """Records are dropped when the buffer is full."""
    return [event for at, event in enumerate(events) if at % 10]


@_on("Ascend Hardware", "every task is there twice")
def hardware_tasks_twice(events: list[Event]) -> list[Event]:
    """The slices are flushed twice."""
    return [*events, *(dict(event) for event in events)]


@_on("Ascend Hardware", "a kernel's name has another task type")
def hardware_names_of_the_next(events: list[Event]) -> None:
    """Names are joined one task too late."""
    _next_values(events, "name")


@_on("Ascend Hardware", "launches and tasks are in another order")
def hardware_connections_of_the_next(events: list[Event]) -> None:
    """Connections are joined one task too late."""
    _next_values(events, "args", "connection_id")


@_on("Ascend Hardware", "the arrow of a task has another number")
def hardware_connections_off_by_one(events: list[Event]) -> None:
    """Connections are counted from 1."""
    for event in events:
        if "connection_id" in event["args"]:
            event["args"]["connection_id"] += 1


@_on("Ascend Hardware", "the thread has another stream")
def hardware_streams_off_by_one(events: list[Event]) -> None:
    """The physical stream is another than that of the thread."""
    for event in events:
        if "Physic Stream Id" in event["args"]:
            event["args"]["Physic Stream Id"] += 1


@_on("Ascend Hardware", "tasks of one stream overlap")
def hardware_on_one_stream(events: list[Event]) -> None:
    """The stream of a task is not looked up."""
    if len({event["tid"] for event in events}) < 2:
        raise Inapplicable
    first = events[0]["tid"]
    for event in events:
        event["tid"] = first


@_on("Ascend Hardware", "a slice has a negative length")
def hardware_negative_lengths(events: list[Event]) -> None:
    """Start and end are exchanged."""
    for event in events:
        event["dur"] = -event["dur"]


@_on("Ascend Hardware", "task types are words of a list")
def hardware_task_types_lower(events: list[Event]) -> None:
    """The task type is printed in lower case."""
    for event in events:
        event["args"]["Task Type"] = event["args"]["Task Type"].lower()


@_on("Ascend Hardware", "core types of arrows and of computing contradict")
def hardware_task_types_of_the_next(events: list[Event]) -> None:
    """Task types are joined one task too late."""
    _next_values(events, "args", "Task Type")


@_on("Ascend Hardware", "kernels start before their launch")
def hardware_two_milliseconds_early(events: list[Event]) -> None:
    """The device's clock is adjusted with the wrong offset; arrows are drawn before."""
    for event in events:
        _shift(event, -2000)


@_on("Ascend Hardware", "times of tasks have digits of us")
def hardware_starts_in_whole_us(events: list[Event]) -> None:
    """Starts are cut to whole microseconds."""
    for event in events:
        event["ts"] = event["ts"].partition(".")[0] + ".000"


# Calls of the host.


@_on("CANN", "calls do not lie in those that make them")
def cann_lengths_in_ns(events: list[Event]) -> None:
    """Durations are written in ns."""
    for event in events:
        event["dur"] *= 1000


@_on("CANN", "a call that is inside another is longer")
def cann_lengths_of_the_next(events: list[Event]) -> None:
    """Durations are joined one call too late."""
    _next_values(events, "dur")


@_on("CANN", "arrows start at calls that are absent")
def cann_second_half_lost(events: list[Event]) -> list[Event]:
    """A slice of records is lost."""
    return events[: len(events) // 2]


@_on("CANN", "every call is there twice")
def cann_calls_twice(events: list[Event]) -> list[Event]:
    """The slices are flushed twice."""
    return [*events, *(dict(event) for event in events)]


@_on("CANN", "acl functions are not of the runtime")
def cann_levels_exchanged(events: list[Event]) -> None:
    """The levels acl and runtime are exchanged."""
    other = {"acl": "runtime", "runtime": "acl"}
    for event in events:
        level = event["args"]["level"]
        event["args"]["level"] = other.get(level, level)


@_on("CANN", "the level in the name is another")
def cann_levels_of_the_next(events: list[Event]) -> None:
    """Levels are joined one call too late."""
    _next_values(events, "args", "level")


@_on("CANN", "the arrows of these calls have other numbers")
def cann_connections_of_the_next(events: list[Event]) -> None:
    """Connections are joined one call too late."""
    _next_values(events, "args", "connection_id")


@_on("CANN", "threads have numbers that no thread has")
def cann_thread_in_args_differs(events: list[Event]) -> None:
    """The number of the process is written for that of the thread."""
    for event in events:
        event["args"]["Thread Id"] += 1


# The framework.


@_on("Python", "enqueue and dequeue have no partner")
def python_correlations_of_the_next(events: list[Event]) -> None:
    """Correlations are joined one call too late."""
    _next_values(
        [event for event in events if event.get("cat") == "dequeue"], "args", "correlation_id"
    )


@_on("Python", "calls do not lie in those that make them")
def python_lengths_in_ns(events: list[Event]) -> None:
    """Durations are written in ns."""
    for event in events:
        event["dur"] *= 1000


@_on("Python", "steps and launches have no call")
def python_five_milliseconds_late(events: list[Event]) -> None:
    """The framework's clock is adjusted with the wrong offset; arrows are drawn before."""
    for event in events:
        _shift(event, 5000)


@_on("Python", "every call is there twice")
def python_calls_twice(events: list[Event]) -> list[Event]:
    """The slices are flushed twice."""
    return [*events, *(dict(event) for event in events)]


@_on("Python", "arrows start at calls that are absent")
def python_second_half_lost(events: list[Event]) -> list[Event]:
    """A slice of records is lost."""
    return events[: len(events) // 2]


@_on("Python", "types and shapes have other numbers of entries")
def python_shapes_and_types_exchanged(events: list[Event]) -> None:
    """Two members are written under each other's name."""
    found = [event["args"] for event in events if "Input Dims" in event.get("args", {})]
    if not found:
        raise Inapplicable
    for args in found:
        args["Input Dims"], args["Input type"] = args["Input type"], args["Input Dims"]


@_on("Python", "dequeues are on the thread that launches")
def python_queue_on_one_thread(events: list[Event]) -> None:
    """The thread of a call is not looked up."""
    if len({event["tid"] for event in events}) < 2:
        raise Inapplicable
    first = events[0]["tid"]
    for event in events:
        event["tid"] = first


# Collectives.


@_on(COLLECTIVES, "tasks last longer than their collective")
def communication_lengths_in_ns(events: list[Event]) -> None:
    """Durations of the tasks are written in ns."""
    for event in events:
        if "task type" in event["args"]:
            event["dur"] *= 1000


@_on(COLLECTIVES, "size divided by duration is not the bandwidth")
def communication_sizes_in_kb(events: list[Event]) -> None:
    """KB are written under a name that says bytes."""
    for event in events:
        if event["args"].get("size(Byte)"):
            event["args"]["size(Byte)"] //= 1024


@_on(COLLECTIVES, "size divided by duration is not the bandwidth")
def communication_bandwidth_in_mb(events: list[Event]) -> None:
    """MB/s are written under a name that says GB/s."""
    for event in events:
        if event["args"].get("bandwidth(GB/s)"):
            event["args"]["bandwidth(GB/s)"] *= 1000


@_on(COLLECTIVES, "local copies go to another rank")
def communication_ranks_exchanged(events: list[Event]) -> None:
    """Source and destination are exchanged."""
    for event in events:
        if "src rank" in event["args"]:
            args = event["args"]
            args["src rank"], args["dst rank"] = args["dst rank"], args["src rank"]


@_on(COLLECTIVES, "the task type is not that of the name")
def communication_task_types_of_the_next(events: list[Event]) -> None:
    """Task types are joined one task too late."""
    _next_values(events, "args", "task type")


@_on(COLLECTIVES, "a transport has one kind of link")
def communication_transports_of_the_next(events: list[Event]) -> None:
    """Transports are joined one task too late."""
    _next_values(events, "args", "transport type")


@_on(COLLECTIVES, "every slice is there twice")
def communication_slices_twice(events: list[Event]) -> list[Event]:
    """The slices are flushed twice."""
    return [*events, *(dict(event) for event in events)]


@_on(COLLECTIVES, "collectives have fewer tasks than planes, and communication has no task")
def communication_second_half_lost(events: list[Event]) -> list[Event]:
    """A slice of records is lost."""
    return events[: len(events) // 2]


@_on(COLLECTIVES, "tasks lie outside their collective")
def communication_names_of_the_next(events: list[Event]) -> None:
    """Names are joined one slice too late."""
    _next_values(events, "name")


# Overlap.


@_on("Overlap Analysis", "computing is not the union of the kernels")
def overlap_computing_and_communication_exchanged(events: list[Event]) -> None:
    """Two kinds are written under each other's name."""
    other = {"Computing": "Communication", "Communication": "Computing"}
    for event in events:
        event["name"] = other.get(event["name"], event["name"])


@_on("Overlap Analysis", "the union has holes where kernels run")
def overlap_of_the_first_half(events: list[Event]) -> list[Event]:
    """A slice of records is lost."""
    return events[: len(events) // 2]


@_on("Overlap Analysis", "slices of one kind overlap")
def overlap_lengths_in_ns(events: list[Event]) -> None:
    """Durations are written in ns."""
    for event in events:
        event["dur"] *= 1000


@_on("Overlap Analysis", "slices of one kind overlap")
def overlap_twice(events: list[Event]) -> list[Event]:
    """The slices are flushed twice."""
    return [*events, *(dict(event) for event in events)]


@_on("Overlap Analysis", "there is no free time between kernels")
def overlap_without_free(events: list[Event]) -> list[Event]:
    """A kind is not written."""
    return [event for event in events if event["name"] != "Free"]


# Samples.


def _samples(
    names: str, seen_by: str, argument: str, factor: float
) -> Callable[[Callable[[], None]], None]:
    def register(described: Callable[[], None]) -> None:
        def apply(timeline: Timeline) -> None:
            for event in timeline.layer(names, "C"):
                for name in event["args"]:
                    if argument in name:
                        event["args"][name] *= factor
            timeline.write()

        apply.__doc__ = described.__doc__
        defect("timeline", seen_by, described.__name__.replace("_", "-"))(apply)

    return register


@_samples("AI Core Freq", "no core has such a clock", "MHz", 1_000_000)
def frequency_in_hertz() -> None:
    """Hz are written under a name that says MHz."""


@_samples("LLC", "rates above one hundred", "Hit Rate", 10_000)
def hit_rates_in_percent_of_percent() -> None:
    """Rates are multiplied twice."""


@_samples("NPU MEM", "no device has so much memory", "KB", 1024)
def npu_memory_in_bytes() -> None:
    """Bytes are written under a name that says KB."""


@_on("NPU MEM", "the sum of DDR and HBM is not the memory", "C")
def npu_memory_kinds_exchanged(events: list[Event]) -> None:
    """DDR and the sum are written under each other's name."""
    other = {"DDR": "Memory", "Memory": "DDR"}
    for event in events:
        owner, _, kind = event["name"].partition("/")
        event["name"] = f"{owner}/{other.get(kind, kind)}"


@_on("HBM", "samples of one counter have one time twice", "C")
def hbm_samples_twice(events: list[Event]) -> list[Event]:
    """The samples are flushed twice."""
    return [*events, *(dict(event) for event in events)]


# Arrows.

ARROWS = ("HostToDevice", "async_npu", "async_task_queue", "fwdbwd")


def _arrows(category: str) -> None:
    lower = category.lower().replace("_", "-")

    @defect("timeline", "no launch is connected with its task", f"{lower}-arrows-absent")
    def absent(timeline: Timeline) -> None:
        """Arrows are not written."""
        _replace(timeline, timeline.flows(category), [])
        timeline.write()

    @defect("timeline", "arrows start and end nowhere", f"{lower}-arrows-without-ends")
    def endless(timeline: Timeline) -> None:
        """The ends are not written."""
        _replace(timeline, timeline.flows(category, "f"), [])
        timeline.write()

    @defect("timeline", "an arrow leads from one call to the task of another", f"{lower}-ids-next")
    def next_ids(timeline: Timeline) -> None:
        """Ends are joined one arrow too late."""
        _next_values(timeline.flows(category, "f"), "id")
        timeline.write()

    @defect("timeline", "arrows end where no slice starts", f"{lower}-ends-ten-us-early")
    def early(timeline: Timeline) -> None:
        """Arrows are drawn before clocks are adjusted."""
        for event in timeline.flows(category, "f"):
            _shift(event, -10)
        timeline.write()

    @defect("timeline", "calls in the second half have no arrow", f"{lower}-second-half-absent")
    def half(timeline: Timeline) -> None:
        """A slice of records is lost."""
        events = timeline.flows(category)
        ids = sorted({str(event["id"]) for event in events})
        kept = set(ids[: len(ids) // 2])
        _replace(timeline, events, [one for one in events if str(one["id"]) in kept])
        timeline.write()


for _category in ARROWS:
    _arrows(_category)


# The whole file.


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
