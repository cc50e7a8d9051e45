"""Functions that control the graph engine's profiling or report to it, and components, as pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ascend_ref.markdown import Style, code, commas, sentences, table
from ascend_spec import ge_catalog
from ascend_spec.core.values import ValueSet
from ascend_spec.ge import (
    ArgumentCheck,
    CallTransition,
    Component,
    ComponentLayer,
    DataType,
    GeFunction,
    ProfilingState,
    ReturnCode,
)

from .blocks import values_section
from .pages import citations, evidence, resolutions
from .subject import Subject, things

SUMMARIES = {
    "control": "a function of ge/ge_prof.h",
    "library": "a function of the msprof library",
}


def function_section(function: GeFunction, style: Style) -> str:
    """One function: its declaration, what it checks, and what it answers in each state."""
    given = ", ".join(f"{one.type} {one.name}" for one in function.arguments)
    arguments = (
        (code(one.name), code(one.type), style.prose(one.summary)) for one in function.arguments
    )
    checks = (
        (str(number), one.check, style.prose(one.summary), _code(one.code, style), _limits(one))
        for number, one in enumerate(function.checks, 1)
    )
    reported = [
        one.component
        for one in ge_catalog().components.values()
        if function.function in one.reports
    ]
    folds = "every code but 0 becomes GE_PROF_FAILED" if function.folds else None
    return style.page(
        function.function,
        function.summary,
        ("Declared", code(f"{function.returns} {function.function}({given});")),
        ("Header", code(function.header)),
        ("Codes", folds),
        ("Called in documents", (code(one) for one in function.instead_of)),
        ("Loaded by name", "yes" if function.by_name else None),
        ("Called by", style.links("ge-component", reported)),
        *evidence(function, style),
        table(("argument", "type", "meaning"), arguments) if function.arguments else "",
        "Checks, in this order:" if function.checks else "",
        table(("", "check", "holds where", "else", "limits"), checks) if function.checks else "",
        _answers(function, style),
        resolutions(ge_catalog().errata, function.errata, style),
    )


def _answers(function: GeFunction, style: Style) -> str:
    found = [one for one in ge_catalog().life_cycle if one.call == function.function]
    if not found:
        return ""
    rows = (
        (
            style.link("ge-state", one.state),
            one.reading or "both",
            one.bits or "",
            _code(one.code, style),
            style.link("ge-state", one.then),
            sentences(
                style.prose(one.summary),
                commas([style.link("erratum", found) for found in one.errata]),
            ),
            citations(one.source, style),
        )
        for one in found
    )
    return table(("state", "reading", "bits", "code", "then", "meaning", "source"), rows)


def _errata(one: CallTransition, style: Style) -> str:
    return commas([style.link("erratum", erratum) for erratum in one.errata])


def _code(number: int | None, style: Style) -> str:
    if number is None:
        return ""
    return style.link("ge-code", ge_catalog().codes[number].name, str(number))


def _limits(check: ArgumentCheck) -> str:
    if check.most is not None:
        return f"{check.least} to {check.most}"
    return commas(code(ascii(one)[1:-1]) for one in check.characters)


def code_section(one: ReturnCode, style: Style) -> str:
    """One code, and where it comes from."""
    given = (found for found in ge_catalog().life_cycle if found.code == one.code)
    rows = (
        (style.link("ge-call", found.call), found.state, found.reading or "both") for found in given
    )
    return style.page(
        one.name,
        one.summary,
        ("Number", f"{one.code}, {one.code:#x}"),
        *evidence(one, style),
        table(("call", "state", "reading"), rows),
    )


def state_section(state: ProfilingState, style: Style) -> str:
    """One state, and the calls that leave it."""
    found = [one for one in ge_catalog().life_cycle if one.state == state.state]
    rows = ((*_call(one, style), style.prose(one.summary)) for one in found)
    return style.page(
        state.state,
        state.summary,
        ("Work mode", state.mode),
        *evidence(state, style),
        table(("call", "reading", "code", "then", "meaning"), rows),
    )


def _call(one: CallTransition, style: Style) -> tuple[str, ...]:
    return (
        style.link("ge-call", one.call),
        one.reading or "both",
        _code(one.code, style),
        one.then,
    )


def data_type_section(one: DataType, style: Style) -> str:
    """One bit of what is collected."""
    standing = {
        "public": "public, in ge/ge_prof.h",
        "supported": "taken by a start, and not public",
        "outside": "refused by a start in builds for release",
    }
    added = {
        "configuration": "every configuration",
        "command": "every command that modules are given",
    }
    bit = one.name in ge_catalog().switch_bits
    return style.page(
        _name(one),
        one.summary,
        ("Bit", f"{one.mask:#x}"),
        ("Also", (code(other) for other in (one.name, *one.also))),
        ("Standing", standing[one.standing]),
        ("On the public page", "no" if not one.documented else None),
        ("Adds", (code(other) for other in one.implies)),
        ("Added to", added[one.added] if one.added else None),
        ("Added only with", code(one.added_with) if one.added_with else None),
        ("Modules are given it", "no" if one.hidden else None),
        ("In the graph engine", style.link("switch-bit", one.name) if bit else None),
        *evidence(one, style),
    )


def _name(one: DataType) -> str:
    return one.public_name or one.name


def component_section(one: Component, style: Style) -> str:
    """One component, what leads to it and where it leads."""
    layer = ge_catalog().layers[one.layer]
    before = [
        other.component
        for other in ge_catalog().components.values()
        if one.component in other.leads_to
    ]
    return style.page(
        one.component,
        one.summary,
        ("Layer", style.link("ge-layer", layer.title)),
        ("Made by", (code(macro) for macro in one.macros)),
        ("Files", (code(file) for file in one.files)),
        ("Reached from", _components(before, style)),
        ("Leads to", _components(one.leads_to, style)),
        ("Reports with", style.links("ge-call", one.reports)),
        ("Needs one of", style.links("profiling-type", one.switched_by)),
        *evidence(one, style),
        resolutions(ge_catalog().errata, one.errata, style),
    )


def _components(names: Sequence[str], style: Style) -> list[str]:
    functions = ge_catalog().functions
    return [style.link("ge-call" if one in functions else "ge-component", one) for one in names]


def layer_section(layer: ComponentLayer, style: Style) -> str:
    """One layer with its components."""
    return style.page(
        layer.title,
        layer.collects or None,
        ("Components", _components(_of_layer(layer), style)),
        ("Core", _components(layer.core, style)),
        *evidence(layer, style),
    )


def _of_layer(layer: ComponentLayer) -> list[str]:
    return [one.component for one in ge_catalog().components.values() if one.layer == layer.layer]


def _members(one: ValueSet) -> tuple[str, ...]:
    """Names that stand in code as they are; others are too short to mean one thing."""
    return tuple(name for member in one.members if (name := member.name or "").startswith("k"))


def ge_call_subjects() -> Iterator[Subject]:
    """Functions, codes, states, bits of data, components, layers and numbers of the library."""
    ge = ge_catalog()
    yield from things(
        "ge-call",
        ge.functions,
        "ge/functions.md#{anchor}",
        function_section,
        also=lambda one: one.instead_of,
        cells=lambda one: {"of": SUMMARIES[one.of]},
    )
    yield from things(
        "ge-code",
        {one.name: one for one in ge.codes.values()},
        "ge/codes.md#{anchor}",
        code_section,
        also=lambda one: (str(one.code), f"{one.code:#x}"),
        cells=lambda one: {"number": str(one.code)},
    )
    yield from things("ge-state", ge.states, "ge/states.md#{anchor}", state_section)
    yield from things(
        "data-type",
        {_name(one): one for one in ge.data_types.values()},
        "ge/data-types.md#{anchor}",
        data_type_section,
        also=lambda one: () if one.name in ge.switch_bits else (one.name, *one.also),
        cells=lambda one: {"bit": f"{one.mask:#x}", "standing": one.standing},
    )
    yield from things(
        "ge-component",
        {name: one for name, one in ge.components.items() if name not in ge.functions},
        "ge/components.md#{anchor}",
        component_section,
        also=lambda one: (*one.macros, *_parts(one.component)),
        cells=lambda one: {"layer": ge.layers[one.layer].title},
    )
    yield from things(
        "ge-layer",
        {one.title: one for one in ge.layers.values()},
        "ge/layers.md#{anchor}",
        layer_section,
        summary=lambda one: (
            one.collects or f"Components of the {one.title[0].lower()}{one.title[1:]}."
        ),
    )
    yield from things(
        "ge-values", ge.library_values, "ge/values.md#{anchor}", values_section, also=_members
    )


def _parts(name: str) -> tuple[str, ...]:
    return tuple(name.split("/")) if "/" in name else ()
