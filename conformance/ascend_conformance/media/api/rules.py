"""The rules for servers, loaded from ``rules/api/*.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ascend_spec import per_spec

from ...ruleset import Rule, common_fields, rules_in

Finds = Literal[
    "no-answer",
    "lost",
    "unreadable",
    "stray",
    "envelope",
    "repeated-number",
    "result",
    "no-reason",
    "answered-dropped",
    "schema",
    "unknown-key",
    "known-departure",
    "generation",
    "value",
    "elements",
    "spelling",
    "event",
    "doubled-key",
]
"""What the probe notices; each is one rule."""


@dataclass(frozen=True, slots=True)
class ApiRule(Rule):
    """One rule document of ``rules/api``. The breaks are edits of a sound answer."""

    finds: Finds = "no-answer"


@per_spec
def load_api_rules() -> Mapping[str, ApiRule]:
    """Every rule by id, in the order of the ids."""
    return rules_in("api", _rule)


@per_spec
def rules_by_find() -> Mapping[Finds, ApiRule]:
    """The rule for each thing that the probe notices."""
    return {rule.finds: rule for rule in load_api_rules().values()}


def _rule(document: Mapping[str, Any], theme: str) -> ApiRule:
    if document["finds"] not in get_args(Finds):
        raise ValueError(f"{document['rule']}: the probe does not find {document['finds']!r}")
    return ApiRule(
        **common_fields(document, theme),
        format="api",
        finds=document["finds"],
    )
