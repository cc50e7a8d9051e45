"""Classes of the calls of ACL, which timelines show as their Mode."""

from __future__ import annotations

import re

from ascend_spec import per_spec, raw_catalog

HOST_COMMUNICATION = "HOST_HCCL"


def call_class(name: str) -> str:
    """The class of a call by the beginning of its name (spec: raw/vocabularies.yaml, acl_classes).

    True for all 512 calls of one real timeline (fixtures-text-2025-01).
    """
    return next(found for begin, found in _classes() if begin.match(name))


@per_spec
def _classes() -> list[tuple[re.Pattern[str], str]]:
    """How names begin; the class of all others comes last."""
    members = raw_catalog().vocabularies["acl_classes"].members
    known = [(one.calls, str(one.name)) for one in members if one.calls is not None]
    return [(re.compile(calls), name) for calls, name in sorted(known, reverse=True)]
