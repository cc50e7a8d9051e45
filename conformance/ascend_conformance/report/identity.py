"""The stable identity of a finding, also for names that are not valid Unicode."""

from __future__ import annotations

from dataclasses import replace

from ascend_conformance.finding import Finding


def fingerprint(finding: Finding) -> str:
    """``finding.fingerprint``, with lone surrogates spelled out because they cannot be hashed.

    File names that are not UTF-8 reach Python with surrogates in them.
    """
    return replace(
        finding,
        file=_encodable(finding.file),
        table=finding.table and _encodable(finding.table),
        column=finding.column and _encodable(finding.column),
    ).fingerprint


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
