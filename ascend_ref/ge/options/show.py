"""What options record, as text and as documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ascend_ref.db.display import printable
from ascend_spec import catalog, ge_catalog
from ascend_spec.ge import either

from .explain import Explanation, Way, Ways, options_along, options_of
from .setting import Setting
from .settings import Settings

LONGEST = 70
"""Of a value in a line."""
OFF = (None, "off")


def as_document(explanation: Explanation) -> dict[str, Any]:
    """What JSON can hold of an explanation; of options also those that are off."""
    settings, decision = explanation.settings, explanation.decision
    found: dict[str, Any] = {"on": decision.on, "why": decision.why, "product": explanation.product}
    if settings is None:
        return {**found, "warnings": list(decision.warnings)}
    options = ge_catalog().options
    return {
        **found,
        "level": settings.level,
        "switch": f"{settings.mask:#x}",
        "types": _types(settings),
        "options": {
            name: {**asdict(one), "cost": options[name].cost.cost_class}
            for name, one in settings.options.items()
        },
        "warnings": list(settings.warnings),
        "things": [
            {
                **asdict(one),
                "options": options_of(one, settings),
                "with": options_along(one, settings),
            }
            for one in explanation.things
        ],
    }


def as_lines(explanation: Explanation) -> Iterator[str]:
    """The lines of an explanation: on or off, options in effect, warnings, what will be there."""
    settings, decision = explanation.settings, explanation.decision
    if settings is None:
        yield f"profiling is off: {printable(decision.why)}"
        yield from (f"warning: {printable(one)}" for one in decision.warnings)
        return
    product = catalog().products[explanation.product]
    yield f"profiling is on: {printable(decision.why)}; {product.id}, {product.name}"
    level = "no times of tasks" if settings.level is None else f"level {settings.level}"
    yield f"{level}; profSwitch {settings.mask:#x}: {', '.join(_types(settings)) or 'no type'}"
    for one in settings.options.values():
        if _is_in_effect(one):
            yield _option(one)
    for warning in settings.warnings:
        yield f"warning: {printable(warning)}"
    yield f"{len(explanation.things)} things will be there:"
    for thing in explanation.things:
        by = options_of(thing, settings)
        along = [one for one in options_along(thing, settings) if one not in by]
        why = f"{', '.join(by) or 'in any case'}{f' with {along[0]}' if along else ''}"
        where = f", where a program {' or '.join(thing.program)}" if thing.program else ""
        columns = f"; {len(thing.columns)} columns" if thing.columns else ""
        yield f"  {thing.address}: {why}{where}{columns}"


def ways_as_lines(ways: Ways, product: str | None) -> Iterator[str]:
    """The lines of an answer: what it is, and the options that record it."""
    yield f"{ways.address}: {ways.summary}"
    if ways.always:
        yield f"  there whatever the options say{_on(ways.always, product)}"
    for way in ways.ways:
        yield f"  {_way(way)}{_on(way.products, product)}"
    if not ways.always and not ways.ways:
        yield f"  no option records it{'' if product is None else f' on {product}'}"
    if ways.by_default and ways.by_default != ways.always:
        yield f"  there by default, without any option{_on(ways.by_default, product)}"


def _way(way: Way) -> str:
    if way.adds:
        return f"{way.option} has more recorded in it"
    if way.values is None:
        option = ge_catalog().options[way.option]
        values = option.expects
    else:
        values = either(way.values)
    needed = ""
    if way.task_time is not None:
        needed = f", with task_time {either(way.task_time)}"
    return f"{way.option}: {values}{needed}"


def _on(products: tuple[str, ...], product: str | None) -> str:
    return f"; on {', '.join(products)}" if product is None else ""


def _option(one: Setting) -> str:
    value = str(one.value)
    shown = value if len(value) <= LONGEST else f"{value[: LONGEST - 1]}…"
    given = "" if one.given is None else f", for {one.given!r}"
    cost = ge_catalog().options[one.option].cost
    return printable(f"  {one.option}: {shown} ({one.source}{given}; cost {cost.cost_class})")


def _is_in_effect(one: Setting) -> bool:
    """Whether it is on, and of what nobody said anything, whether it records something."""
    turns_on = ge_catalog().options[one.option].turns_on
    is_said = one.source != "default" and one.value != ""
    return one.value not in OFF and (is_said or bool(turns_on))


def _types(settings: Settings) -> list[str]:
    """The types of profiling that the runtime turns on."""
    bits = ge_catalog().switch_bits
    return [
        one.name
        for one in ge_catalog().profiling_types.values()
        if any(settings.mask & bits[bit].mask for bit in one.switched_by)
    ]
