"""Comparisons of texts as comparisons of the numbers that stand for them in a database.

A name is looked up for each row, and a vocabulary is a long CASE; which numbers meet a comparison
is one look for all rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from .rule import Relation
from .views import Bound, Codes, Dialect, View

_TEXT = "'[^']*'"
_COMPARED = re.compile(
    rf"(?P<of>(?:substr|instr)\()?\b(?P<alias>[a-z]\w*)\.(?P<name>[a-z_]+)\b(?(of), [^()]*\))"
    rf" (?P<test>(?P<sign>=|<>|<=?|>=?) (?:{_TEXT}|\d+)|(?P<no>NOT )?IN \({_TEXT}(?:, {_TEXT})*\)"
    r"|IS (?P<known>NOT )?(?P<null>NULL))"
)


def coded(relation: Relation, bound: Mapping[str, View], dialect: Dialect) -> Relation:
    """The relation with its conditions on codes, where what shows the texts has codes.

    A condition on an unknown number is false then, not unknown: rows that are judged, and what
    subqueries read, stay the same. In what is bad it stays unknown.
    """
    if dialect != "sqlite":
        return relation
    if not isinstance(bound, Bound):
        return _coded(relation, bound)
    if bound.coded is None or bound.coded[0] is not relation:
        bound.coded = relation, _coded(relation, bound)
    found: Relation = bound.coded[1]
    return found


def _coded(relation: Relation, bound: Mapping[str, View]) -> Relation:
    search = relation.search
    own = search.aliases_in((search.joined,)).keys() | search.derived.keys()
    is_outer = "LEFT" in search.joined
    numbers = {
        (alias, name): replace(codes, is_whole=False) if is_outer else codes
        for alias, entity in search.aliases_in(search.texts).items()
        for name in search.values[alias]
        if alias not in search.derived and (codes := bound[entity].codes(name)) is not None
    }

    def rewritten(text: str | None, exact: Collection[str] = ()) -> str | None:
        return text and _COMPARED.sub(lambda match: _rewritten(match, numbers, exact), text)

    walk = search.walk and replace(search.walk, of=rewritten(search.walk.of))
    # The aliases and columns of the original stay: rows with a bad cell are left out by them.
    copied = replace(
        search,
        joined=rewritten(search.joined) or "",
        where=rewritten(search.where),
        bad=rewritten(search.bad, own),
        walk=walk,
    )
    copied.__dict__.update(aliases=search.aliases, values=search.values)
    return replace(relation, search=copied)


def _rewritten(
    match: re.Match[str], numbers: Mapping[tuple[str, str], Codes], exact: Collection[str]
) -> str:
    codes = numbers.get((match["alias"], match["name"]))
    if codes is None:
        return match[0]
    cell = f"{match['alias']}.code_{match['name']}"
    known = "TRUE" if codes.is_whole else _holds(codes, cell)
    if match["null"]:
        return known if match["known"] else f"({known} IS NOT TRUE)"
    if codes.names is not None and (match["of"] or match["sign"] not in ("=", "<>", None)):
        return match[0]  # the texts themselves have to be looked at
    chosen = _chosen(match, codes, cell)
    if match["alias"] in exact and not codes.is_whole:
        return f"(CASE WHEN {known} THEN {chosen} END)"
    return chosen


def _chosen(match: re.Match[str], codes: Codes, cell: str) -> str:
    """That a number's text meets a comparison."""
    texts = {one[1:-1] for one in re.findall(_TEXT, match["test"])}
    without = not match["of"] and (match["sign"] == "<>" or match["no"] is not None)
    if without and codes.is_whole:
        listed = ", ".join(sorted(f"'{one}'" for one in texts))
        return f"(NOT {_holds(codes, cell, texts.__contains__, f'value IN ({listed})')})"
    condition = match[0].replace(f"{match['alias']}.{match['name']}", "value")
    return _holds(codes, cell, lambda name: (name in texts) != without, condition)


def _holds(
    codes: Codes,
    cell: str,
    chosen: Callable[[str], bool] = lambda _: True,
    condition: str = "value IS NOT NULL",
) -> str:
    """That a number is one of those chosen by their name, or by a condition on their text."""
    if codes.names is not None:
        numbers = ", ".join(str(number) for number, name in codes.names.items() if chosen(name))
        return f"({cell} IN ({numbers}))" if numbers else "(0)"
    return codes.written(f"({cell} IN (SELECT id FROM {codes.source} WHERE {condition}))")
