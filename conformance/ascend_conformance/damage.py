"""Damage a copy of a profile as a rule's break does: ``damage(profile, "DB411", folder)``."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ascend_ref import __version__
from ascend_ref.atomic import staged
from ascend_ref.below import mirrored
from ascend_ref.db.display import show_path

from .check import check_candidates
from .discover import candidates_in, discover
from .engine.candidate import Candidate
from .engine.damaging import Change
from .engine.trials import NotBreakable
from .finding import Finding
from .media import media
from .options import Options
from .ruleset import Rule, Selection

TRUTH = "truth.json"
TRUTH_FORMAT = "ascend-ref-damage/1"

RELATION = "relation"
"""The medium of rules that others judge as well."""

Copied = Callable[[int, int, str], None]
"""Is called with the bytes copied, those of all files, and the current file."""


class NotDamaged(Exception):
    """No file of a profile gives occasion for a rule's break; the text is one clear line."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """What was done to the copy of a profile, and what ``check`` finds of it.

    ``changes`` and ``findings`` name their files below the folder that was written.
    """

    profile: Path
    rule: Rule[Any]
    changes: tuple[Change, ...]
    findings: tuple[Finding, ...]

    def truth(self) -> dict[str, Any]:
        """What ``truth.json`` holds."""
        return {
            "format": TRUTH_FORMAT,
            "ascend_ref": __version__,
            "profile": self.profile.name,
            "rule": self.rule.id,
            "name": self.rule.name,
            "changes": [asdict(one) for one in self.changes],
            "found": [
                {
                    "file": one.file,
                    "place": one.place,
                    "count": one.count,
                    **{
                        name: value
                        for name in ("line", "offset", "first_rowid")
                        if (value := getattr(one, name)) is not None
                    },
                }
                for one in self.findings
            ],
        }


def damage(
    profile: Path,
    rule: Rule[Any],
    folder: Path,
    at: str | None = None,
    copied: Copied | None = None,
) -> Damaged:
    """Copy a profile into a new folder, carry out a rule's break in the copy, write the truth.

    ``at``: the place, as findings name it (``TASK.taskType``); none: the first that can be broken.
    The folder appears only when the rule finds what was done. Raises :class:`NotDamaged`,
    ``NothingToCheck``, ``FileExistsError``, ``OSError``.
    """
    discover(profile)
    with staged(folder) as draft:
        copy = draft / profile.resolve().name
        _copy(profile, copy, copied)
        only = Options(selection=Selection((rule.id,)), workers=1)
        before = {_key(one) for one in check_candidates(candidates_in(copy), only).findings}
        done = _break(profile, candidates_in(copy), rule, at)
        changes = [replace(one, file=str(Path(one.file).relative_to(draft))) for one in done]
        report = check_candidates(candidates_in(copy), only)
        found = [one for one in report.findings if one.rule == rule.id and _key(one) not in before]
        if not found:
            raise NotDamaged(
                f"{show_path(profile)}: {rule.id} does not find its break here "
                f"({changes[0].words}); expected files that show all that the rule compares"
            )
        findings = tuple(replace(one, file=_below(one.file, draft)) for one in found)
        result = Damaged(folder / copy.name, rule, tuple(changes), findings)
        text = json.dumps(result.truth(), indent=2, ensure_ascii=False) + "\n"
        (draft / TRUTH).write_text(text, encoding="utf-8")
    return result


def _key(finding: Finding) -> tuple[str, str, str, int]:
    return finding.rule, finding.file, finding.place, finding.count


def _below(file: str, draft: Path) -> str:
    return file.removeprefix(show_path(draft)).lstrip(os.sep)


def _break(
    profile: Path, candidates: Sequence[Candidate], rule: Rule[Any], at: str | None
) -> Sequence[Change]:
    """Break the first candidate that gives occasion."""
    reasons = []
    for candidate in candidates:
        medium = media()[candidate.medium]
        if rule.medium not in (candidate.medium, RELATION):
            continue
        try:
            return medium.damage(candidate, rule, at)
        except NotBreakable as reason:
            reasons.append(f"{candidate.path.name}: {reason}")
    place = f" at {at}" if at else ""
    why = reasons[0] if reasons else "no file of its kind"
    raise NotDamaged(
        f"{show_path(profile)}: {rule.id} cannot be broken here{place}: {why}; "
        "expected a profile that has what the rule is about"
    )


def _copy(profile: Path, copy: Path, copied: Copied | None) -> None:
    files = mirrored(profile, copy)
    sizes = {source: source.stat().st_size for source in files}
    done, total = 0, sum(sizes.values())
    for source, target in files.items():
        shutil.copyfile(source, target)
        done += sizes[source]
        if copied:
            copied(done, total, source.name)
