"""What of options is accepted and is not what one would think."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ascend_spec import catalog, ge_catalog
from ascend_spec.ge import either

from .check import CUSTOM, EVENT, POINTS, TRACE, json_text
from .given import WORK_PATH
from .setting import Setting

Effective = Mapping[str, Setting]
OFF = (None, "off")


def warnings_of(effective: Effective, found: Mapping[str, Any], product: str) -> Iterator[str]:
    """A sentence for each. found: the object of the text."""
    given = [name for name, one in effective.items() if name in found]
    yield from _ignored(effective, found, given)
    yield from _excluded(effective, given)
    yield from _on_some_chips(given, product)
    if effective["task_time"].value == "off":
        yield from _about_tasks(effective, given)
    if not effective["output"].value:
        yield f"without output {WORK_PATH} must be set, or the collector refuses the options"


def _ignored(
    effective: Effective, found: Mapping[str, Any], given: Collection[str]
) -> Iterator[str]:
    """What has no effect, or no other than something else."""
    if "task_trace" in given:
        yield "task_trace is ignored: the value of task_time, or on without one, takes its place"
    if "hccl" in given:
        yield "hccl is deprecated: task_time records collective communication as well"
    for name in given:
        other = ge_catalog().options[name].of_use_with
        if other is not None and effective[other].value in OFF:
            yield f"{name} is of no use without {other}"
    for point in POINTS:
        if point in given and not isinstance(found[point], str):
            yield f"{point} is {json_text(found[point])} and has no effect"
        elif effective[point].value and effective[TRACE].value != "on":
            yield f"{point} has an effect while graphs are built alone, as {TRACE} is not on"


def _excluded(effective: Effective, given: Collection[str]) -> Iterator[str]:
    """What public pages do not have."""
    name = "instr_profiling"
    others = [one for one in ge_catalog().options[name].excludes if one in given]
    if effective[name].value == "on" and others:
        yield f"public pages do not have {name} together with {', '.join(others)}"
    metrics = str(effective["aic_metrics"].value)
    if metrics.startswith(CUSTOM):
        events = metrics.removeprefix(CUSTOM).lower().split(",")
        numbers = [_number(one) for one in events if EVENT.fullmatch(one)]
        last = ge_catalog().entry.counters.last_public
        if any(one > last for one in numbers):
            yield f"aic_metrics: public pages have events up to {last:#x}, the collector takes any"


def _number(event: str) -> int:
    return int(event, 16 if event.startswith("0x") else 10)


def _on_some_chips(given: Collection[str], product: str) -> Iterator[str]:
    """What only some chips of the product have."""
    chips = catalog().products[product].platforms
    for name in given:
        having = tuple(one for one in chips if one in ge_catalog().options[name].chips)
        if having and len(having) < len(chips):
            yield f"{name}: of {product} only chip {either(having)} has it"


def _about_tasks(effective: Effective, given: Collection[str]) -> Iterator[str]:
    """What records things about tasks, of which there are none."""
    about = {row for row, one in ge_catalog().needs.items() if one.along_with}
    rows = catalog().products.data.values()
    for name in given:
        value = effective[name].value
        on = () if value is None else ge_catalog().options[name].switches(value)
        if any(row.id in about and not set(on).isdisjoint(row.switches) for row in rows):
            yield f"{name} records what is about tasks, and task_time is off"
