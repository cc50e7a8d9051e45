"""Proposers: each finds the numbers that its rules rest on, and which of these hold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ascend_ref.cli.suggest import unknown

from ..analyse.advice import ADVICE
from ..analyse.utilization import idle_part
from .base import Ask, Numbers, Proposer
from .parallel import ParallelProposer

OPERATOR_TYPES = {
    "slow_generators": "GeneratorOp",
    "slow_maps": "MapOp",
    "slow_batches": "BatchOp",
}


class NoProposer(LookupError):
    """There is no proposer of a name."""


class CommonProposer(Proposer):
    """What holds always."""

    def holding(self, ask: Ask) -> Iterator[tuple[str, Numbers]]:
        """Every rule."""
        for one in self.rules():
            yield one.proposal, {}


class StepTraceProposer(Proposer):
    """The time in which a step waits for data."""

    def holding(self, ask: Ask) -> Iterator[tuple[str, Numbers]]:
        """By the average step."""
        column = "iteration_interval"
        answer = ask("step_trace", {"mode": "proc", "proc_name": column, "step_id": 0})
        times = answer["info"][column]
        longest = self.rule("long_interval").thresholds["longest"]
        if times and times[0] > longest:
            yield "long_interval", {column: times[0]}


class MinddataProposer(Proposer):
    """Both ends of the queue to the device, and the CPUs."""

    def holding(self, ask: Ask) -> Iterator[tuple[str, Numbers]]:
        """The queue first."""
        summary = ask("minddata", None).get("summary", {})
        yield from self._of_queue(summary)
        answer = ask("minddata_cpu_utilization", None)
        busy = 100 - idle_part(answer)
        if busy > self.rule("busy_cpus").thresholds["busiest"]:
            yield "busy_cpus", {"busy": int(busy)}

    def _of_queue(self, summary: Mapping[str, Any]) -> Iterator[tuple[str, Numbers]]:
        fetched = summary.get("get_next_queue_info", {}).get("summary", {})
        waited = fetched.get("empty_batch_count", 0)
        if fetched:
            total = fetched["total_batch"]
            yield "fetched_queue", {"fetched_empty": waited, "fetched_total": total}
        filled = summary.get("device_queue_info", {}).get("summary", {})
        if not filled:
            return
        counts = {
            "empty": filled["empty_batch_count"],
            "full": filled["full_batch_count"],
            "total": filled["total_batch"],
        }
        yield "filled_queue", counts
        empty, total = counts["empty"], counts["total"]
        slow = [name for name, one in summary.items() if one.get("status") == "warning"]
        if "device_queue_warning" in slow:
            yield "full_queue", {"warning": "warning"}
        else:
            rate = math.ceil(empty / total * 100) if total else 0
            numbers = {"empty": empty, "total": total, "empty_rate": rate}
            yield "empty_queue", {**numbers, "fetched_empty": waited}


class MinddataPipelineProposer(Proposer):
    """Operators of the data pipeline that fill their queues too little."""

    def holding(self, ask: Ask) -> Iterator[tuple[str, Numbers]]:
        """All of them, then by what they do."""
        limits = self.rule("slow_operators").thresholds
        answer = ask("minddata_pipeline", {"threshold": [limits["high"], limits["low"]]})
        rows = [dict(zip(answer["col_name"], row, strict=True)) for row in answer["object"]]
        if not rows or rows[0]["parent_id"] is None:
            return
        yield "slow_operators", _named(rows)
        sources = [row for row in rows if not row["children_id"]]
        if sources:
            yield "slow_sources", _named(sources)
        for name, kind in OPERATOR_TYPES.items():
            of_kind = [row for row in rows if row["children_id"] and row["op_type"] == kind]
            if of_kind:
                yield name, _named(of_kind)


def _named(rows: list[dict[str, Any]]) -> Numbers:
    """The last is the first that data passes."""
    return {"operators": "/".join(f"{row['op_type']}_{row['op_id']}" for row in reversed(rows))}


class AverageStep:
    """The average step, in ms. ``total``, ``interval``: of it and of its begin until the forward
    start. ``late``: time in which sums of gradients run behind the backward end.
    """

    def __init__(self, answer: Mapping[str, Any]) -> None:
        summary = answer.get("summary", {})
        self.total = float(summary.get("total_time", 0))
        self.interval = float(summary.get("iteration_interval", 0))
        self.count = int(summary.get("total_steps", 0))
        _, parts, *lines = answer.get("training_trace_graph") or [[], []]
        forward = next((one for one in parts if one.get("name") == "fp_and_bp"), None)
        behind = self.total if forward is None else forward["start"] + forward["duration"]
        named = [one for line in lines for one in line if one.get("name")]
        spans = sorted((one["start"], one["start"] + one["duration"]) for one in named)
        self.late = 0.0
        for start, end in spans:
            self.late += max(0.0, end - max(start, behind))
            behind = max(behind, end)

    @classmethod
    def of(cls, ask: Ask) -> AverageStep:
        """That of the steps of a device."""
        return cls(ask("step_trace", {"mode": "step", "step_id": 0}))


def _percent(part: float, whole: float) -> int:
    return round(100 * part / whole) if whole > 0 else 0


class ReductionProposer(Proposer):
    """Sums of gradients that no computing hides."""

    def holding(self, ask: Ask) -> Iterator[tuple[str, Numbers]]:
        """By their part of the average step."""
        step = AverageStep.of(ask)
        part = _percent(step.late, step.total)
        if part > self.rule("late_reductions").thresholds["largest"]:
            yield "late_reductions", {"late": round(step.late, MS_DIGITS), "part": part}


class AicpuProposer(Proposer):
    """Kernels of the AI CPUs."""

    def holding(self, ask: Ask) -> Iterator[tuple[str, Numbers]]:
        """By their part of the average step."""
        step, answer = AverageStep.of(ask), ask("aicpu_type", None)
        types = {row[0]: float(row[1]) for row in answer.get("object", ())}
        busy = sum(types.values()) / PER_MS / max(step.count, 1)
        part = _percent(busy, step.total)
        if types and part > self.rule("slow_ai_cpus").thresholds["largest"]:
            slowest = max(types, key=lambda name: types[name])
            numbers = {"busy": round(busy, MS_DIGITS), "part": part, "slowest": slowest}
            yield "slow_ai_cpus", numbers


class LaunchProposer(Proposer):
    """Time in which the device has nothing to do."""

    def holding(self, ask: Ask) -> Iterator[tuple[str, Numbers]]:
        """By its part of the average step from the forward start on."""
        step, answer = AverageStep.of(ask), ask("aicore_detail", None)
        names = answer.get("col_name", ())
        rows = [dict(zip(names, row, strict=True)) for row in answer.get("object", ())]
        busy = sum(float(one["avg_execution_time"]) for one in rows) / PER_MS + step.late
        whole = step.total - step.interval
        part = _percent(whole - busy, whole)
        if rows and part > self.rule("slow_launches").thresholds["largest"]:
            yield "slow_launches", {"idle": round(whole - busy, MS_DIGITS), "part": part}


PER_MS = 1e3
"""Microseconds of a millisecond."""
MS_DIGITS = 4


class MsadvisorProposer(Proposer):
    """What msadvisor recommends."""

    def holding(self, ask: Ask) -> Iterator[tuple[str, Numbers]]:
        """What the file has, and what its advice is of."""
        answer = ask("msadvisor", None)
        if answer:
            advice = answer.get(ADVICE)
            models = ", ".join(advice) if isinstance(advice, Mapping) else "nothing that is named"
            yield "recommendation", {**answer, "models": models}


PROPOSERS: Mapping[str, type[Proposer]] = {
    "common": CommonProposer,
    "step_trace": StepTraceProposer,
    "minddata": MinddataProposer,
    "minddata_pipeline": MinddataPipelineProposer,
    "msadvisor": MsadvisorProposer,
    "parallel": ParallelProposer,
}
"""Those of the viewer, in the order in which they are asked."""

OF_DEVICE = tuple(PROPOSERS)[:-1]
"""Those of a device, in the order in which they are asked."""

OWN: Mapping[str, type[Proposer]] = {
    "reduction": ReductionProposer,
    "aicpu": AicpuProposer,
    "launch": LaunchProposer,
}
"""Those that no viewer has, which are asked by name alone."""


def find_proposer(name: str) -> Proposer:
    """The proposer of a name. Raises :class:`NoProposer`."""
    known = {**PROPOSERS, **OWN}
    if name not in known:
        raise NoProposer(unknown("proposer", name, known))
    return known[name](name)
