"""What the page of a relation says: where it is judged, how it is found, how it is broken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import yaml

from ascend_ref.markdown import Style, code, fenced
from ascend_spec import timeline_catalog

from .media import judged_in
from .rule import Edit, Relation, Walk


def where(relation: Relation) -> str:
    """The media in which it is judged, each with what shows its entities."""
    shown = (
        f"{medium} ({', '.join(map(code, dict.fromkeys(names)))})"
        for medium, names in judged_in(relation).items()
    )
    return "; ".join(shown)


def about(relation: Relation) -> Iterator[str]:
    """Addresses of what shows its entities."""
    kinds = {"database": "table", "csv": "csv", "timeline": "layer", "mindspore": "intermediate"}
    kinds["raw"] = "raw"
    layers = {one.slug: one.name for one in timeline_catalog().layers.values()}
    for medium, names in judged_in(relation).items():
        for name in names:
            yield f"{kinds[medium]}/{layers.get(name, name.removesuffix('.csv'))}"


def reads(relation: Relation, style: Style) -> str:
    """The values that it reads."""
    return ", ".join(
        style.link("entity", entity, f"{entity}.{column}")
        for entity, columns in relation.search.reads.items()
        for column in sorted(columns)
    )


def search(relation: Relation) -> str:
    """How bad rows are found."""
    rows = f"FROM {relation.search.joined}"
    if relation.search.where:
        rows += f"\nWHERE {relation.search.where}"
    if relation.search.walk is None:
        bad = fenced("sql", relation.search.bad or "")
        return f"Of these rows\n\n{fenced('sql', rows)}\n\nthose are bad for which\n\n{bad}"
    walk = relation.search.walk
    by = f" within each {' and '.join(map(code, walk.by))}" if walk.by else ""
    if walk.kind == "inside":
        around = f"FROM {walk.outer}" + (f"\nWHERE {walk.of}" if walk.of else "")
        text = f"each must lie{by} in the time of one of these:\n\n{fenced('sql', around)}"
    elif walk.kind == "rising":
        text = _rising(walk, by)
    elif walk.kind == "repeated":
        alike = ", ".join(map(code, ("start", "end", *walk.alike)))
        text = f"no two may be equal{by} in {alike}."
    elif walk.kind == "disjoint":
        text = f"no two may overlap{by}."
    else:
        text = f"two that overlap{by} must lie one inside the other."
    return f"Of these rows\n\n{fenced('sql', rows)}\n\n{text}"


def _rising(walk: Walk, by: str) -> str:
    order = f"in order of {' and '.join(map(code, walk.order))}" if walk.order else "as rows stand"
    least = "be greater than" if walk.strict else "not be less than"
    than = f" {code(walk.than)}" if walk.than else ""
    text = f"{code(walk.value)} must{by}, {order}, {least}{than} in the row before"
    if walk.wrap is not None:
        text += f", unless it begins again at 0 after {walk.wrap - 1:,}"
    judged = f" Rows are judged where {code(walk.of)}." if walk.of else ""
    return f"{text}.{judged}"


def mutation(relation: Relation, style: Style) -> Iterator[str]:
    """How the self-test breaks it, and what must not break it."""
    yield style.part("How the self-test breaks it")
    yield "In a clean recording this change wakes the relation, in every medium that shows it:"
    yield _yaml([*map(_row, relation.search.edits)])
    if relation.search.legal:
        yield "Each of these does not:"
        cases = [[*map(_row, one)] for one in relation.search.legal]
        yield _yaml([one[0] if len(one) == 1 else one for one in cases])


def _yaml(rows: Sequence[Any]) -> str:
    return fenced("yaml", yaml.safe_dump(rows, sort_keys=False, width=1000))


def _row(edit: Edit) -> Mapping[str, Any]:
    row = {"of": edit.alias, "if": edit.if_, **asdict(edit)}
    return {key: value for key, value in row.items() if value and key not in ("alias", "if_")}
