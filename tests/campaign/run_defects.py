"""Put every defect into every base, and list the defects that no violation reports.

    python tests/campaign/run_defects.py [NAME]...

NAME is the beginning of a defect or of a base. Exit 1 where a miss is not listed in
``misses.yaml``, a listed one is found, an untouched base has a violation, no case was judged, or
less than ``FLOOR`` of them are found. Cases that no reader can decide do not count; the last line
also shows the share of all cases that were tried.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml
from campaign_bases import BASES, copy, handles, sources
from exporter_defects import DEFECTS, Inapplicable

from ascend_conformance.check import check
from ascend_conformance.options import Options

for _medium in ("databases", "texts", "timelines", "bins", "ranks"):
    import_module(f"defects_of_{_medium}")

MISSES = Path(__file__).with_name("misses.yaml")
FLOOR = 0.95

Outcome = Literal["violation", "advice", "silent", "inapplicable", "broken"]


class Case(NamedTuple):
    defect: str
    base: str


class Miss(NamedTuple):
    """Why a case passes without a violation, and whether a careful reader could decide it.

    One is decidable if files and reference alone show that they cannot be right. It is not where
    another program, product or time may write such files.
    """

    why: str
    is_decidable: bool


class Result(NamedTuple):
    """What became of a case; rules that are new, violations first."""

    case: Case
    outcome: Outcome
    rules: tuple[str, ...]


def cases(wanted: Sequence[str] = ()) -> Iterator[Case]:
    """Every defect on every base that has its medium, base by base."""
    for base, described in BASES.items():
        for name, one in DEFECTS.items():
            chosen = not wanted or any(name.startswith(w) or base.startswith(w) for w in wanted)
            if one.medium in described.media and chosen:
                yield Case(name, base)


def _findings(path: Path) -> dict[str, set[tuple[Any, ...]]]:
    found: dict[str, set[tuple[Any, ...]]] = {"violation": set(), "advice": set()}
    for one in check([path], Options(workers=1)).findings:
        verdict = "violation" if one.verdict in ("violation", "failure") else "advice"
        found[verdict].add((one.rule, one.place, one.count))
    return found


@cache
def _root() -> Path:
    return Path(tempfile.mkdtemp(prefix="campaign-"))


@cache
def untouched(base: str) -> dict[str, set[tuple[Any, ...]]] | None:
    """The findings on a base as it is; nothing where it is absent."""
    source = sources(BASES[base], _root())
    if source is None:
        return None
    with tempfile.TemporaryDirectory() as scratch:
        return _findings(copy(BASES[base], source, Path(scratch) / "profile"))


def run(case: Case) -> Result:
    """Copy the base, apply the defect, check, and compare with the base as it was."""
    before = untouched(case.base)
    source = sources(BASES[case.base], _root())
    if before is None or source is None:
        return Result(case, "inapplicable", ())
    one = DEFECTS[case.defect]
    with tempfile.TemporaryDirectory() as scratch:
        path = copy(BASES[case.base], source, Path(scratch) / "profile")
        try:
            one.apply(handles(one.medium, path)())
        except Inapplicable:
            return Result(case, "inapplicable", ())
        except Exception as problem:  # one broken defect leaves the others tried
            return Result(case, "broken", (f"{type(problem).__name__}: {problem}",))
        after = _findings(path)
    new = {
        verdict: sorted({rule for rule, *_ in after[verdict] - before[verdict]})
        for verdict in after
    }
    outcome: Outcome = "violation" if new["violation"] else "advice" if new["advice"] else "silent"
    return Result(case, outcome, (*new["violation"], *new["advice"]))


@cache
def misses() -> dict[Case, Miss]:
    """The cases that are known to pass without a violation."""
    return {
        Case(entry["defect"], base): Miss(entry["why"], entry["decidable"])
        for entry in yaml.safe_load(MISSES.read_text(encoding="utf-8")) or ()
        for base in entry["bases"]
    }


def _share(base: str, wanted: Sequence[str]) -> tuple[bool, list[Result]]:
    """Whether the untouched base is clean, or absent, and the results of its cases."""
    try:
        results = [run(case) for case in cases(wanted) if case.base == base]
        return not (untouched(base) or {}).get("violation"), results
    finally:
        if _root.cache_info().currsize:
            shutil.rmtree(_root(), ignore_errors=True)
            _root.cache_clear()
            untouched.cache_clear()


def _is_decidable(case: Case) -> bool:
    listed = misses().get(case)
    return bool(DEFECTS[case.defect].seen_by) and (listed is None or listed.is_decidable)


def main(wanted: Sequence[str]) -> int:
    """Run the cases; print what is not as listed, and the share of violations by base."""
    bases = sorted({case.base for case in cases(wanted)}, key=_weight)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        shares = list(pool.map(_share, bases, [wanted] * len(bases)))
    unclean = [base for base, (is_clean, _) in zip(bases, shares, strict=True) if not is_clean]
    results = [one for _, share in shares for one in share if one.outcome != "inapplicable"]
    failed = bool(unclean)
    for base in unclean:
        print(f"violation in untouched {base}")
    for one in sorted(results):
        is_found, listed = one.outcome == "violation", one.case in misses()
        if one.outcome == "broken":
            failed = True
            print(f"broken: {one.case.defect} in {one.case.base}: {one.rules[0]}")
        elif is_found is listed and (listed or DEFECTS[one.case.defect].seen_by):
            failed = True
            print(
                f"{'found' if listed else 'missed'}: {one.case.defect} in {one.case.base}:"
                f" {one.outcome} {' '.join(one.rules)}"
            )
    judged = [one for one in results if _is_decidable(one.case)]
    found = Counter(one.case.base for one in judged if one.outcome == "violation")
    for base, count in sorted(Counter(one.case.base for one in judged).items()):
        print(f"{base}: {found[base]} of {count}")
    every = sum(one.outcome == "violation" for one in results)
    print(
        f"{_of(found.total(), len(judged))} decidable cases are violations,"
        f" {len({one.case.defect for one in judged})} defects;"
        f" {_of(every, len(results))} cases in all, none left out"
    )
    return int(failed or not judged or found.total() < FLOOR * len(judged))


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / max(whole, 1):.1%})"


def _weight(base: str) -> bool:
    """Bases of many files begin, so that none of them is last and alone."""
    return "csv" not in base


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
