"""What the owner of a profile can do about a finding; ``fix`` of a rule is for the exporter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ascend_conformance.finding import Finding
from ascend_spec.core import parse


@dataclass(frozen=True, slots=True)
class Remedy:
    """``do`` for findings of ``rules``, ids or beginnings of ids, or of ``verdicts``.

    ``breaks``: for changes of formats, by whom they break; the spec is by those of its sources.
    ``losses``: for every other advice that names what was lost as well. ``explained``: for notes
    with the changes of the schema that explain them.
    """

    do: str
    rules: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    losses: bool = False
    explained: bool = False
    breaks: tuple[str, ...] = ()


@cache
def remedies() -> Sequence[Remedy]:
    """All of them in their order."""
    text = files(__package__).joinpath("owners.yaml").read_text(encoding="utf-8")
    return tuple(
        Remedy(
            one["do"],
            tuple(one.get("rules", ())),
            tuple(one.get("verdicts", ())),
            one.get("losses", False),
            one.get("explained", False),
            tuple(one.get("breaks", ())),
        )
        for one in parse(text)
    )


def what_to_do(finding: Finding) -> str:
    """The remedy of a finding in words."""
    breaks = finding.context.get("breaks")
    if breaks is not None:
        return next(one.do for one in remedies() if breaks in one.breaks)
    if finding.verdict == "note" and finding.changes:
        by_change = (one.do for one in remedies() if one.explained and _is_for(finding, one))
        if (known := next(by_change, None)) is not None:
            return known
    by_rule = (one.do for one in remedies() if not one.explained and _is_for(finding, one))
    by_verdict = (one.do for one in remedies() if finding.verdict in one.verdicts)
    known = next(by_rule, None)
    if known is None and finding.verdict == "advice":
        if finding.erratum:
            return f"harmless: exporters are known for it (erratum {finding.erratum})"
        if "lost" in finding.context:
            return next(one.do for one in remedies() if one.losses)
    return known or next(by_verdict)


def _is_for(finding: Finding, one: Remedy) -> bool:
    return bool(one.rules) and finding.rule.startswith(one.rules)
