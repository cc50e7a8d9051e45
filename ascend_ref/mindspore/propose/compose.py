"""What all proposers say of a folder, as the viewer puts it together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ascend_spec import mindspore_catalog

from ..analyse.factory import load_analyser
from ..analyse.files import Folder
from ..analyse.queues import QUEUES
from .base import Proposed
from .proposers import OF_DEVICE, find_proposer

LABEL = "-proposer_type_label"
ADVISER = "msadvisor"
ALWAYS = ("common", ADVISER, "parallel")
"""Proposers whose proposals do not hang on those of others."""

WAITING, SLOW, SENDING = "long_interval", "slow_operators", "empty_queue"
PIPELINE = "minddata_pipeline"


@dataclass(frozen=True, slots=True)
class Composed:
    """``proposals``: what holds and is shown. ``hidden``: what holds and is not, with the reason.

    ``skipped``: rules that could not be asked, with the reason. ``is_quiet``: whether nothing is
    advised but by those that do not hang on others.
    """

    proposals: tuple[Proposed, ...]
    hidden: Mapping[str, str]
    skipped: Mapping[str, str]
    is_quiet: bool = False

    @property
    def advice(self) -> list[Proposed]:
        """What is a reason to do something."""
        return [one for one in self.proposals if one.rule.kind == "advice"]

    def as_viewed(self, *, has_labels: bool = True) -> dict[str, Any]:
        """As the viewer has it: arguments by key, those of each proposer under its label."""
        found: dict[str, Any] = {}
        for one in self.proposals:
            if one.rule.own:
                continue
            if not (self.is_quiet and one.rule.proposer == ADVISER):
                if has_labels:
                    found.setdefault(f"{one.rule.proposer}{LABEL}", None)
                found.update(one.others)
            group = found.setdefault(one.rule.group, {}) if one.rule.group else found
            if one.rule.passed == "each-by-name":
                group.setdefault(one.rule.key, []).append(one.arguments)
            else:
                group[one.rule.key] = one.arguments
        return found


def compose(folder: Folder, names: Sequence[str] = OF_DEVICE) -> Composed:
    """What proposers say of the intermediate files of a device, or of all ranks of its folder.

    Nothing is advised unless steps wait for their data and operators of the pipeline are slow;
    where sending the data is slow, those operators are not shown. Raises ``NoProposer``,
    ``OSError``.
    """
    skipped: dict[str, str] = {}
    missing: set[str] = set()

    def ask(name: str, filters: Any) -> Mapping[str, Any]:
        reason = _lacks(folder, name)
        if reason is not None:
            missing.add(name)
            return EMPTY.get(name, {})
        asked = {"filter_condition": filters} if filters else None
        return load_analyser(name, folder).query(asked)

    found = []
    for name in names:
        proposer = find_proposer(name)
        found += proposer.analyze(ask)
        skipped.update(proposer.skipped)
        for rule in proposer.rules():
            reasons = [_lacks(folder, one) for one in rule.needs if one in missing]
            if reasons:
                skipped[rule.proposal] = "; ".join(filter(None, reasons))
    is_quiet = not {WAITING, SLOW} <= {one.rule.proposal for one in found}
    hidden = _hidden(found)
    shown = tuple(one for one in found if one.rule.proposal not in hidden)
    return Composed(shown, hidden, skipped, is_quiet)


def is_of_all_ranks(names: Sequence[str]) -> bool:
    """Whether no proposer asks for one device. Raises ``NoProposer``."""
    known = mindspore_catalog().analysers
    needed = {one for name in names for rule in find_proposer(name).rules() for one in rule.needs}
    return all(known[one].of_all_ranks for one in needed)


EMPTY: Mapping[str, Mapping[str, Any]] = {
    "step_trace": {"info": {"iteration_interval": []}},
    PIPELINE: {"col_name": [], "object": []},
}
"""What an analyser without files would answer."""


def _lacks(folder: Folder, name: str) -> str | None:
    """The file without which an analyser has nothing to say; ``None`` where it is there."""
    analyser = mindspore_catalog().analysers[name]
    needed = QUEUES if name == "minddata" else analyser.reads[:1]
    if analyser.of_all_ranks:
        return None if folder.named(needed[0]) else f"no {needed[0]}"
    return None if folder.first(needed) else f"no {' or '.join(needed)} of device {folder.device}"


def _hidden(found: Collection[Proposed]) -> dict[str, str]:
    holding = {one.rule.proposal: one for one in found}
    if WAITING not in holding or SLOW not in holding:
        lacking = " and ".join(one for one in (WAITING, SLOW) if one not in holding)
        reason = f"{lacking} does not hold"
        return {
            name: reason
            for name, one in holding.items()
            if one.rule.proposer not in ALWAYS and not one.rule.own
        }
    sending = holding.get(SENDING)
    if sending is None:
        return {}
    limit = sending.rule.thresholds["empty_warning_threshold"]
    if not 0 < sending.numbers["empty_rate"] <= limit:
        return {}
    reason = "sending the data is slow"
    return {name: reason for name, one in holding.items() if one.rule.proposer == PIPELINE}
