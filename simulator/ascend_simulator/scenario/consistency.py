"""What the fields of a scenario must be to each other: nothing that a schema can say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from math import prod
from typing import Any

from ascend_spec import catalog, layout_catalog, text_catalog, timeline_catalog

from ..choices import (
    LOSSES_OF_DEVICE,
    LOSSES_OF_HOST,
    LOSSES_OF_RAW,
    FaultChoice,
    Scenario,
    Schedule,
)
from ..documents import Path, Problem
from ..hardware.model import machine
from ..program.counters import metric_groups
from ..program.single import COLLECTIVES, least_lengths, lone_operators
from .collected import collecting, setting
from .damageable import job_kinds, raw_kinds
from .estimate import BYTES_PER_ROW, MOST_ROWS, MOST_ROWS_PER_RANK, rows_per_rank, rows_per_step
from .schema import run_schema

LAYERED = ("dense-transformer", "moe", "llm-inference")
MOST_ELEMENTS = 1 << 36
MOST_TIMES = 1000
"""So many times as long may faults of one kind make a step together: as one alone may."""
LEAST_PERIOD = 300
"""Cycles between two samples of the pipes (ge-profiling.md 1.3, instr_profiling_freq)."""


def problems(scenario: Scenario) -> Iterator[Problem]:
    """Everything that is impossible about a scenario whose fields are sound by themselves."""
    yield from _parallelism(scenario)
    yield from _model(scenario)
    yield from _capture(scenario)
    for place, fault in enumerate(scenario.faults):
        yield from _fault(scenario, fault, ("faults", place))
        yield from _together(scenario, place)
    yield from _size(scenario)


def _is(scenario: Scenario, path: Path, expected: str) -> Problem:
    """What a field is, and what is expected instead."""
    value: Any = scenario
    for part in path:
        value = value[part] if isinstance(part, int) else getattr(value, part)
    return path, f"is {value}; expected {expected}"


def _parallelism(scenario: Scenario) -> Iterator[Problem]:
    chosen, model = scenario.parallelism, scenario.model
    at = "parallelism"
    if model.kind not in LAYERED:
        for name in ("tensor", "pipeline"):
            if getattr(chosen, name) > 1:
                only = f"1, for a {model.kind} is only data parallel"
                yield _is(scenario, (at, name), only)
                return
    if chosen.expert > 1 and model.kind != "moe":
        yield _is(scenario, (at, "expert"), f"1, for a {model.kind} has no experts")
    shared = chosen.tensor * chosen.pipeline
    if chosen.ranks % shared:
        product = f"tensor x pipeline = {chosen.tensor} x {chosen.pipeline} = {shared}"
        yield _is(scenario, (at, "ranks"), f"a multiple of {product}")
        return
    if chosen.data % chosen.expert:
        size = f"the data-parallel size, ranks / (tensor x pipeline) = {chosen.data}"
        yield _is(scenario, (at, "expert"), f"a divisor of {size}")
    on_host = machine(scenario.hardware).devices_per_host
    driven = chosen.devices_per_process
    for many, of in (
        (on_host, f"{on_host} devices of a host"),
        (chosen.ranks, f"{chosen.ranks} ranks"),
    ):
        if many % driven:
            yield _is(scenario, (at, "devices_per_process"), f"a divisor of the {of}")
            return


def _model(scenario: Scenario) -> Iterator[Problem]:
    model, split = scenario.model, scenario.parallelism
    product = scenario.hardware.product
    if model.data_type == "DT_BF16" and not catalog().products[product].can("bf16"):
        other = f"FLOAT16 or FLOAT, for {product} cannot compute with the former"
        yield _is(scenario, ("model", "data_type"), other)
    if model.kind in LAYERED:
        if model.layers < split.pipeline:
            least = f"at least parallelism.pipeline = {split.pipeline}"
            yield _is(scenario, ("model", "layers"), least)
        divided = (
            ("heads", model.heads, "parallelism.tensor", split.tensor),
            ("hidden", model.hidden, "model.heads", model.heads),
        )
        for name, value, other, by in divided:
            if value % by:
                yield _is(scenario, ("model", name), f"a multiple of {other} = {by}")
    if model.kind == "moe":
        if model.experts % split.expert:
            whole = f"a multiple of parallelism.expert = {split.expert}"
            yield _is(scenario, ("model", "experts"), whole)
        if model.top_k > model.experts:
            yield _is(scenario, ("model", "top_k"), f"at most model.experts = {model.experts}")
    if model.kind == "single-operator":
        yield from _single(scenario)


def _single(scenario: Scenario) -> Iterator[Problem]:
    model = scenario.model
    if model.operator not in lone_operators():
        close = get_close_matches(model.operator, lone_operators(), 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        yield (
            ("model", "operator"),
            f"is {model.operator!r}; expected an operator that is modelled, such as MatMulV2{hint}",
        )
        return
    if model.operator in COLLECTIVES and scenario.parallelism.ranks < 2:
        yield _is(scenario, ("parallelism", "ranks"), f"at least 2 for {model.operator}")
    least = least_lengths(model.operator)
    if len(model.shape) < least:
        yield (
            ("model", "shape"),
            f"has {len(model.shape)} lengths; expected {least} or more for {model.operator}",
        )
    if prod(model.shape) > MOST_ELEMENTS:
        yield (
            ("model", "shape"),
            f"has a product of {prod(model.shape)}; expected at most {MOST_ELEMENTS}",
        )


def _capture(scenario: Scenario) -> Iterator[Problem]:
    if not scenario.capture.cpu and not scenario.capture.npu:
        yield ("capture", "npu"), "is false, and so is capture.cpu; expected one of them to be true"
    group, groups = scenario.capture.aic_metrics, metric_groups(machine(scenario.hardware).chip)
    if group is not None and group not in groups:
        counted = f"what {scenario.hardware.product} counts: {', '.join(groups)}"
        yield _is(scenario, ("capture", "aic_metrics"), counted)
    if 0 < scenario.capture.instr < LEAST_PERIOD:
        yield _is(scenario, ("capture", "instr"), f"0 or at least {LEAST_PERIOD} (cycles)")


def _fault(scenario: Scenario, fault: FaultChoice, at: Path) -> Iterator[Problem]:
    ranks, schedule = scenario.parallelism.ranks, scenario.schedule
    named = {"ranks": fault.ranks, "link": fault.link or ()}
    for name, chosen in named.items():
        for place, rank in enumerate(chosen):
            if rank >= ranks:
                yield _is(scenario, (*at, name, place), f"a rank from 0 to {ranks - 1}")
    if fault.steps is not None:
        first, last = fault.steps
        for wrong, wanted in (
            (first > last, "the first step before the last"),
            (first <= last and None in map(schedule.round_of, fault.steps), _captured(schedule)),
        ):
            if wrong:
                yield (*at, "steps"), f"is [{first}, {last}]; expected {wanted}"
    if fault.kind in ("slow-link", "communication-retry") and ranks < 2:
        yield _is(scenario, (*at, "kind"), "at least 2 ranks for it")
    nominal = machine(scenario.hardware).chip.frequency
    if fault.kind == "frequency-throttling" and fault.frequency >= nominal:
        yield _is(scenario, (*at, "frequency"), f"less than the nominal {nominal} MHz")
    yield from _lost(scenario, fault, at)


def _lost(scenario: Scenario, fault: FaultChoice, at: Path) -> Iterator[Problem]:
    if fault.kind == "lost-samples":
        yield from _sampler(scenario, fault.sampler, (*at, "sampler"))
    if fault.kind == "lost-file" and fault.file not in files_of_runs():
        yield _is(scenario, (*at, "file"), _like(fault.file, files_of_runs()))
    if fault.kind == "lost-arrows" and fault.arrows not in flow_categories():
        yield _is(scenario, (*at, "arrows"), f"one of {', '.join(sorted(flow_categories()))}")
    if fault.kind in LOSSES_OF_RAW and fault.raw not in raw_kinds(fault.kind):
        listed = ", ".join(raw_kinds(fault.kind))
        yield _is(scenario, (*at, "raw"), f"for {fault.kind} one of {listed}")
    if job_kinds(fault.kind) and fault.raw not in job_kinds(fault.kind):
        listed = ", ".join(job_kinds(fault.kind))
        yield _is(scenario, (*at, "raw"), f"for {fault.kind} one of {listed}")
    for losses, field in ((LOSSES_OF_DEVICE, "npu"), (LOSSES_OF_HOST, "cpu")):
        if fault.kind in losses and not getattr(scenario.capture, field):
            yield _is(scenario, (*at, "kind"), f"capture.{field} to be true for it")


def _like(name: str, known: Collection[str]) -> str:
    """What is expected instead of a name that is not among many."""
    close = get_close_matches(name, known, 1)
    return f"what the spec calls a file, such as {close[0] if close else 'kernel_details'}"


def files_of_runs() -> set[str]:
    """The kinds of files of a written run, as the spec calls them."""
    text, layout = text_catalog(), layout_catalog()
    others = {
        file.id
        for file in layout.files.values()
        if file.producer in ("msprof", "pytorch") and file.id not in ("csv", "timeline", "info")
    }
    return {*text.csv, *timeline_catalog().files} | others


def flow_categories() -> set[str]:
    """The categories of the flows of timelines."""
    return {flow.cat for flow in timeline_catalog().flows.values()}


def _captured(schedule: Schedule) -> str:
    first, *others = map(schedule.captured, range(schedule.repeat))
    rounds = [first, *others[:1], *others[1:][-1:]]
    shown = [f"{steps.start} to {steps[-1]}" for steps in rounds]
    return f"numbers of captured steps: {', '.join(shown)}"


def _together(scenario: Scenario, place: int) -> Iterator[Problem]:
    """Factors of one kind multiply where they hit the same; asked at the step where each begins."""
    fault = scenario.faults[place]
    if "factor" not in run_schema().read_by("fault", fault.kind):
        return
    step = fault.steps[0] if fault.steps else scenario.schedule.captured().start
    everywhere, hit = 1.0, defaultdict[object, float](lambda: 1.0)
    for one in scenario.faults:
        first, last = one.steps or (step, step)
        if one.kind != fault.kind or not first <= step <= last:
            continue
        times = one.factor / 1000
        if not one.link and not one.ranks:
            everywhere *= times
        for target in [frozenset(one.link)] if one.link else one.ranks:
            hit[target] *= times
    if everywhere * max(hit.values(), default=1.0) > MOST_TIMES:
        yield (
            ("faults", place, "factor"),
            f"is {fault.factor}, and with the others of its kind that hit the same step it makes "
            f"more than {MOST_TIMES} times as long; expected at most that",
        )


def _sampler(scenario: Scenario, sampler: str, at: Path) -> Iterator[Problem]:
    known = {
        name: table
        for name, table in catalog().tables.items()
        if table.sample and collecting(table.data)
    }
    if sampler not in known:
        yield _is(scenario, at, f"one of {', '.join(sorted(known))}")
        return
    if sampler not in sampled_tables(scenario):
        fields = [one.split(".") for one in collecting(known[sampler].data)]
        needed = " or ".join(f"capture.{': ['.join(one)}{']' * len(one[1:])}" for one in fields)
        yield (
            at,
            f"is {sampler}, which this run does not sample; expected {needed} on a product that "
            "has it",
        )


def sampled_tables(scenario: Scenario) -> set[str]:
    """The tables that the run of a scenario fills by sampling."""
    return {
        name
        for name, table in catalog().tables.items()
        if table.sample
        and any(setting(scenario.capture, field) for field in collecting(table.data))
        and scenario.hardware.product in table.products
    }


def _size(scenario: Scenario) -> Iterator[Problem]:
    rows, ranks = rows_per_rank(scenario), scenario.parallelism.ranks
    most = min(MOST_ROWS_PER_RANK, MOST_ROWS // ranks)
    if rows <= most:
        return
    total = rows * ranks
    steps = most // (rows_per_step(scenario) * scenario.schedule.repeat)
    remedy = f", which {steps} steps make" if steps else ": fewer ranks, or a smaller model"
    yield (
        ("schedule", "active"),
        f"is {scenario.schedule.active}, which makes about {_round(total)} rows and "
        f"{_round(total * BYTES_PER_ROW)} Byte on {ranks} rank{'s' if ranks > 1 else ''}; "
        f"expected at most about {_round(most * ranks)} rows{remedy}",
    )


def _round(number: int) -> str:
    """One digit and a power of ten."""
    power = len(str(number)) - 1
    return f"{number // 10**power} x 10^{power}"
