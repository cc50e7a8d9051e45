"""Classes of the calls of ACL, which timelines show as their Mode."""

from __future__ import annotations

import re

HOST_COMMUNICATION = "HOST_HCCL"
_CLASSES = (
    (re.compile("aclrt"), "ACL_RTS"),
    (re.compile("aclmdl"), "ACL_MODEL"),
    (re.compile("aclnn|[A-Z]"), "ACL_NN"),
    (re.compile("hcom_"), HOST_COMMUNICATION),
    (re.compile(""), "ACL_OP"),
)
"""By the beginning of the name, since databases do not hold it. True for all 512 calls of the real
timeline (data/text/pytorch_level1_rank0)."""


def call_class(name: str) -> str:
    """The class of a call (spec: raw/vocabularies.yaml, acl_classes)."""
    return next(found for begin, found in _CLASSES if begin.match(name))
