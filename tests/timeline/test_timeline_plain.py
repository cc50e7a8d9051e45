"""Every event of the layers of msprof is what plain Python makes of the same rows."""

from __future__ import annotations

from collections import Counter

import pytest
from plain_timeline import CPP, OLD, PYTHON, Plain, Style, canonical
from slices import some
from timeline_recordings import layers, real_database, simulated, timeline

from ascend_ref.recorded import Recorded

WRITERS = {
    "cpp": ("msprof", CPP),
    "python": ("msprof", PYTHON),
    "adapter": ("pytorch", CPP),
    "adapter-2025-01": ("pytorch", OLD),
}
PARTS = ("cann", "hardware", "communication", "counters", "arrows")


def both(
    preset: str, output: str, writer: str, recorded: Recorded, style: Style, part: str
) -> tuple[Counter[str], Counter[str]]:
    events = timeline((preset, output, None), writer)
    plain = Counter(canonical(event) for event in getattr(Plain(recorded, style), part)())
    names = layers(events)
    homes = {
        "cann": ("CANN",),
        "hardware": ("Ascend Hardware",),
        "communication": ("Communication", "HCCL"),
        "counters": ("HBM", "NPU MEM", "LLC", "Acc PMU"),
    }
    if part == "arrows":
        chosen = [event for event in events if event.get("cat") == "HostToDevice"]
    else:
        chosen = [
            event for event in events if names[event["pid"]] in homes[part] and event["ph"] in "XC"
        ]
    return Counter(map(canonical, chosen)), plain


FREE_NUMBERS = ("python", "counters")
"""Where layers have no fixed numbers."""


@pytest.mark.parametrize(
    ("writer", "part"),
    some(
        [(one, part) for one in WRITERS for part in PARTS if (one, part) != FREE_NUMBERS], every=2
    ),
)
def test_events_are_those_of_plain_python(writer: str, part: str) -> None:
    output, style = WRITERS[writer]
    recorded = simulated("observed-everything", "msprof" if output == "msprof" else "pytorch")
    ours, plain = both("observed-everything", output, writer, recorded, style, part)
    assert plain
    assert ours == plain


def test_python_engine_numbers_the_other_layers_from_20() -> None:
    events = timeline(("observed-everything", "msprof", None), "python")
    index = {
        event["pid"]: event["args"]["sort_index"]
        for event in events
        if event["name"] == "process_sort_index"
    }
    names = {names: index[pid] for pid, names in layers(events).items()}
    free = [number for number in names.values() if number >= 20]
    assert sorted(free) == list(range(20, 20 + len(free)))
    sort = PYTHON.sort | {name: names[name] for name in CPP.sort if name in names}
    recorded = simulated("observed-everything", "msprof")
    style = Style("python", sort)
    ours, plain = both("observed-everything", "msprof", "python", recorded, style, "counters")
    assert ours == plain


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("writer", ["adapter", "adapter-2025-01"])
def test_events_of_a_real_database_are_those_of_plain_python(writer: str, part: str) -> None:
    recorded = real_database("level1_rank1")
    ours, plain = both("level1_rank1", "real", writer, recorded, WRITERS[writer][1], part)
    assert plain
    assert ours == plain
