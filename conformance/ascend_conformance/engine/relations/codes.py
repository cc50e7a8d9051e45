"""Comparisons of texts as comparisons of the numbers that stand for them in a database.

A name is looked up for each row, and a vocabulary is a long CASE; which numbers meet a comparison
is one look for all rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from .rule import Relation
from .views import Codes, Dialect, View

_TEXT = "'[^']*'"
_COMPARED = re.compile(
    rf"(?P<of>(?:substr|instr)\()?\b(?P<alias>[a-z]\w*)\.(?P<name>[a-z_]+)\b(?(of), [^()]*\))"
    rf" (?P<test>(?P<sign>=|<>|<=?|>=?) (?:{_TEXT}|\d+)|(?P<no>NOT )?IN \({_TEXT}(?:, {_TEXT})*\))"
)


def coded(relation: Relation, bound: Mapping[str, View], dialect: Dialect) -> Relation:
    """The relation with its conditions on codes, where what shows the texts has codes.

    A condition on an unknown number is false then, not unknown: rows that are judged, and what
    subqueries read, stay the same; what is bad may not be rewritten.
    """
    if dialect != "sqlite":
        return relation
    search = relation.search
    own = search.aliases_in((search.joined,)).keys() | search.derived.keys()
    inner = search.aliases_in((search.bad or "",)).keys() - own
    every = search.aliases_in(search.texts).keys() - search.derived.keys()

    def rewritten(text: str | None, aliases: Iterable[str]) -> str | None:
        found = {alias: bound[search.aliases[alias]] for alias in aliases}
        return text and _COMPARED.sub(lambda match: _rewritten(match, found), text)

    walk = search.walk and replace(search.walk, of=rewritten(search.walk.of, every))
    # The aliases and columns of the original stay: rows with a bad cell are left out by them.
    copied = replace(
        search,
        joined=rewritten(search.joined, every) or "",
        where=rewritten(search.where, every),
        bad=rewritten(search.bad, inner),
        walk=walk,
    )
    copied.__dict__.update(aliases=search.aliases, values=search.values)
    return replace(relation, search=copied)


def _rewritten(match: re.Match[str], views: Mapping[str, View]) -> str:
    view = views.get(match["alias"])
    codes = view.codes(match["name"]) if view else None
    chosen = None if codes is None else _chosen(match, codes)
    return match[0] if chosen is None else f"{match['alias']}.code_{match['name']} IN ({chosen})"


def _chosen(match: re.Match[str], codes: Codes) -> str | None:
    """The numbers whose texts meet a comparison; ``None`` where they have to be looked at."""
    if codes.names is None:
        condition = match[0].replace(f"{match['alias']}.{match['name']}", "value")
        return f"SELECT id FROM {codes.source} WHERE {condition}"
    if match["of"] or match["sign"] not in ("=", "<>", None):
        return None
    texts = {one[1:-1] for one in re.findall(_TEXT, match["test"])}
    without = match["sign"] == "<>" or match["no"] is not None
    numbers = (number for number, name in codes.names.items() if (name in texts) != without)
    return ", ".join(map(str, numbers))
