"""The rules for servers, loaded from ``rules/api/*.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec

from ascend_spec import per_spec

from ...ruleset import Rule, rules_in

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
class ApiSearch:
    """What the probe notices. The breaks are edits of a sound answer."""

    finds: Finds


ApiRule: TypeAlias = Rule[ApiSearch]


@per_spec
def load_api_rules() -> Mapping[str, ApiRule]:
    """Every rule by id, in the order of the ids."""
    return rules_in("api", lambda document: msgspec.convert(document, ApiSearch))


@per_spec
def rules_by_find() -> Mapping[Finds, ApiRule]:
    """The rule for each thing that the probe notices."""
    return {rule.search.finds: rule for rule in load_api_rules().values()}
