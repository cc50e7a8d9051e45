"""The layers of timelines as tables: their names, and the columns of the args of their events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ascend_spec import per_spec, timeline_catalog
from ascend_spec.timeline import Arg, Layer


@dataclass(frozen=True, slots=True)
class ArgColumn:
    """An arg of a layer as a column: what the spec says of it for each kind of event."""

    name: str
    type: str
    args: tuple[Arg, ...]


@per_spec
def arg_columns(table: str) -> tuple[ArgColumn, ...]:
    """The args with fixed names of a layer's table, over all writers, in the order of the spec.

    Their SQL type is BIGINT or DOUBLE where every writer gives a number, else VARCHAR.
    """
    found: dict[str, list[Arg]] = {}
    for kind in layers_by_table()[table].events:
        for arg in kind.args:
            if arg.name.is_fixed:
                found.setdefault(arg.name.template, []).append(arg)
    return tuple(ArgColumn(name, _sql_type(args), tuple(args)) for name, args in found.items())


def layer_table(slug: str) -> str:
    """The table of a layer, without its schema."""
    return slug.replace("-", "_")


@per_spec
def layers_by_table() -> Mapping[str, Layer]:
    """Layers by the names of their tables."""
    return {layer_table(one.slug): one for one in timeline_catalog().layers.values()}


def _sql_type(args: Iterable[Arg]) -> str:
    types = {one for arg in args for one in arg.json} - {"null"}
    if types == {"integer"}:
        return "BIGINT"
    return "DOUBLE" if types <= {"integer", "number"} else "VARCHAR"
