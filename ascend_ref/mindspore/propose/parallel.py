"""The proposer of all ranks of a folder: slow ranks, slow links, and work that is shared badly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..analyse.parallel import OF_LINKS, OF_STEPS, OF_SUMS
from ..analyse.ranks import DATA, MODEL, PIPELINE
from .base import Ask, Numbers, Proposer

VALUE_DIGITS, PERCENT_DIGITS = 4, 2
OF_MODE = {
    DATA: "much_communication_of_data",
    MODEL: "much_communication_of_models",
}
RESTS_ON = {
    "slow_start": OF_STEPS,
    "slow_rank": OF_SUMS,
    "slow_link": OF_LINKS,
    "much_communication_of_data": OF_STEPS,
    "much_communication_of_models": OF_STEPS,
    "much_between_stages": OF_STEPS,
    "much_within_stage": OF_STEPS,
    "large_stage": OF_SUMS,
}
"""What of an answer a rule takes, which is missing as a whole where the file of a rank is."""


class ParallelProposer(Proposer):
    """All ranks on average."""

    def holding(self, ask: Ask) -> Iterator[tuple[str, Numbers]]:
        """Ranks, links, then how the work is shared."""
        answer = ask("parallel", None)
        if not answer:
            return
        missing = answer["missing"]
        of_pipeline = answer["parallel_mode"] == PIPELINE
        for name, part in RESTS_ON.items():
            if part in missing:
                self.skipped[name] = missing[part]
        yield from self._of_ranks(answer)
        yield from self._slow_links(answer["rank_link"])
        if of_pipeline:
            yield from self._of_stages(answer)
        elif answer["parallel_mode"] in OF_MODE:
            name = OF_MODE[answer["parallel_mode"]]
            yield from self._part(name, answer["communication_rate"])

    def _of_ranks(self, answer: Mapping[str, Any]) -> Iterator[tuple[str, Numbers]]:
        waits = {one["rank_id"]: one["step_interval"] for one in answer["step_interval"]}
        found = self._largest("slow_start", waits, 1)
        if found is not None:
            yield "slow_start", {"rank_id": found[0], **found[1]}
        speeds = {one["rank_id"]: one["FLOPS"] for one in answer["rank_flops_per_second"]}
        found = self._largest("slow_rank", speeds, -1)
        if found is not None:
            yield "slow_rank", {"rank_id": found[0], **found[1]}

    def _slow_links(self, links: Sequence[Sequence[Any]]) -> Iterator[tuple[str, Numbers]]:
        kinds: dict[str, dict[tuple[int, int, int], float]] = {}
        for place, (name, kind, _, _, width) in enumerate(links):
            source, _, target = name.partition("-")
            if int(source) != int(target):
                kinds.setdefault(kind, {})[int(source), int(target), place] = width
        for kind, widths in kinds.items():
            found = self._largest("slow_link", widths, -1)
            if found is not None:
                (source, target, _), numbers = found
                ranks = {"src_rank": source, "des_rank": target, "link_type": kind}
                yield "slow_link", {**ranks, **numbers}

    def _of_stages(self, answer: Mapping[str, Any]) -> Iterator[tuple[str, Numbers]]:
        yield from self._part("much_between_stages", answer["between_stage_communication_rate"])
        stages = answer["within_stage_communication_rate"]
        if stages:
            most = max(stages, key=lambda one: one["rate"])
            more = {"stage": most["stage_id"]}
            yield from self._part("much_within_stage", most["rate"], more)
        size = answer["rank_size"] // answer["stage_num"] if answer["stage_num"] else 0
        means: dict[int, float] = {}
        for one in answer["rank_flops"] if size else ():
            stage = one["rank_id"] // size + 1
            means[stage] = means.get(stage, 0) + one["FLOPs"] / size
        found = self._largest("large_stage", means, 1)
        if found is not None:
            yield "large_stage", {"stage": found[0], **found[1]}

    def _part(
        self, name: str, part: float, more: Numbers | None = None
    ) -> Iterator[tuple[str, Numbers]]:
        if part > self.rule(name).thresholds["threshold"] / 100:
            yield name, {"val": round(part * 100, PERCENT_DIGITS), **(more or {})}

    def _largest(
        self, name: str, values: Mapping[Any, float], sign: int
    ) -> tuple[Any, Numbers] | None:
        """The value that is farthest above the mean, or below it (sign -1), if far enough."""
        mean = sum(values.values()) / len(values) if values else 0
        if not mean:
            return None
        parts = {
            key: one / mean - 1 if sign > 0 else (mean - one) / mean for key, one in values.items()
        }
        worst = max(parts, key=parts.__getitem__)
        if parts[worst] <= self.rule(name).thresholds["largest"] / 100:
            return None
        return worst, {
            "val": round(values[worst], VALUE_DIGITS),
            "percent": round(parts[worst] * 100, PERCENT_DIGITS),
        }
