"""Generations of one writer: what an older one has in common with the newest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .bounds import DAYS, bounds_of

LISTS = frozenset(("writers", "not_writers", "bp", "unordered", "bare_ts"))
"""Keys with lists of writers."""


@dataclass(frozen=True, slots=True)
class Generations:
    """The writers of text/writers.yaml by id, with the day of each.

    ``like`` names, by older writer, the newest of its kind. Whatever a document says of that one
    holds of the older one as well, but for what ``since`` and ``until`` exclude.
    """

    dates: Mapping[str, str]
    like: Mapping[str, str]

    def with_older(self, writers: Sequence[str]) -> list[str]:
        """Writers, and behind them the older ones that are like them and not named themselves."""
        older = (old for old, new in self.like.items() if new in writers)
        return list(dict.fromkeys((*writers, *older)))

    def in_full(self, node: Any) -> Any:
        """A document with the older writers written out in lists of writers and keys by writer."""
        if isinstance(node, list):
            return [self.in_full(one) for one in node]
        if not isinstance(node, dict):
            return node
        full: dict[str, Any] = {}
        for key, value in node.items():
            whole = self.with_older(value) if key in LISTS else self.in_full(value)
            for name in self.with_older([key]):
                if name == key or name not in node:
                    full[name] = whole
        return full

    def on_their_days(self, node: Any) -> Any:
        """As :meth:`in_full`; a fact with writers and bounds is left to those on whose days it
        holds, and goes where there are none.
        """
        return self._dated(self.in_full(node))

    def _dated(self, node: Any) -> Any:
        if isinstance(node, list):
            dated = [self._dated(one) for one in node]
            return [one for one in dated if not isinstance(one, dict) or one.get("writers", True)]
        if not isinstance(node, dict):
            return node
        full = {key: self._dated(value) for key, value in node.items()}
        if "writers" in full:
            bounds = bounds_of(full)
            full["writers"] = [
                one for one in full["writers"] if DAYS.in_force(bounds, self.dates[one])
            ]
            full = {key: value for key, value in full.items() if key not in ("since", "until")}
        return full
