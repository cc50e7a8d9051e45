"""Which relations can find something else after a change: those that look at what was changed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from .binding import Unjudged, bind
from .rule import Relation
from .views import Shown

_NAME = re.compile(r"\w+")


class Looks:
    """What relations look at in something that is not changed yet."""

    def __init__(self, shown: Shown, relations: Iterable[Relation]) -> None:
        self._shape = _shape_of(shown)
        self._read = {one.id: _names_read(one, shown) for one in relations}

    def concerned(
        self, relations: Iterable[Relation], shown: Shown, changed: Collection[str] | None
    ) -> list[Relation]:
        """Those of the relations that can find something else after a change.

        ``changed``: names of tables, of views, or of their spaces, all that can differ; ``None``
        where anything can. Where other views are shown than before, relations may be bound to
        others, and all are concerned.
        """
        if changed is None or _shape_of(shown) != self._shape:
            return list(relations)
        return [one for one in relations if not self._read[one.id].isdisjoint(changed)]


def _shape_of(shown: Shown) -> list[tuple[object, ...]]:
    return [(one.entity, one.name, one.space, one.columns) for one in shown.views()]


def _names_read(relation: Relation, shown: Shown) -> frozenset[str]:
    """Every name in the SQL of the views that it is bound to, and those of the views."""
    bound = bind(relation, shown.views())
    if isinstance(bound, Unjudged):
        return frozenset()
    views = [(bound[entity], columns) for entity, columns in relation.search.reads.items()]
    return frozenset(
        name
        for view, columns in views
        for name in (view.name, view.space, *_NAME.findall(view.select(columns, True)))
    )
