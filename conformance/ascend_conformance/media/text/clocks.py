"""Times on the cores that no clock and number of cores explain."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.compute as pc

from .derived.operators import FILES, KINDS, core_times
from .derived.reading import Asked, LacksColumn
from .findings import HEADER, Fault
from .folder import Folder


def unfitting_clocks(folder: Folder, _examples: int) -> Iterator[Fault]:
    """The columns of time on the cores of which nothing can be computed again, with the guess."""
    for name in FILES:
        if not folder.facts.columns(f"csv.{name}"):
            continue
        try:
            found = core_times(Asked(folder.facts, f"FROM csv.{name}", {"file": name}))
        except LacksColumn:
            continue  # the rules that need it are skipped with this reason
        for kind, names in KINDS.items():
            reasons = found.filter(
                pc.and_(pc.is_valid(found[f"{kind}_unknown"]), pc.is_valid(found[kind]))
            )
            if len(reasons):
                yield Fault(
                    reasons["file"][0].as_py(),
                    names.time,
                    count=len(reasons),
                    total=len(found),
                    at=HEADER,
                    remark=reasons[f"{kind}_unknown"][0].as_py(),
                )
