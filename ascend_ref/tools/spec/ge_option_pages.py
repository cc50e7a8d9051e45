"""What asks for the graph engine's profiling, and what it turns on, as Markdown pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ascend_ref.markdown import Style, code, commas, table
from ascend_spec import catalog, ge_catalog
from ascend_spec.ge import (
    EntryOption,
    Metric,
    Option,
    OptionError,
    ProfilingType,
    SwitchBit,
    Variable,
)
from ascend_spec.ge.options import EVERY

from .pages import citations, evidence, resolutions
from .subject import Subject, things

INITIALISATION = "initialisation"


def option_section(option: Option, style: Style) -> str:
    """One option: values, default, effect, cost, where it is taken, and errors."""
    node = ge_catalog().options_schema["properties"][option.option]
    turned = [
        (code(value) if value != EVERY else "any", commas(style.links("switch", switches)))
        for value, switches in option.turns_on.items()
    ]
    return style.page(
        option.option,
        option.summary,
        ("Type", node["type"]),
        ("Expected", style.prose(option.expects)),
        ("Default", _default(node)),
        ("Public", "yes" if option.public else "public pages do not have it"),
        ("Deprecated", style.prose(_deprecated(option))),
        ("Cost", style.prose(f"{option.cost.cost_class}: {option.cost.why}")),
        ("Grade of the cost", option.cost.grade),
        ("Chips", style.links("chip", map(str, option.chips)) if option.chips else "all"),
        ("Products", style.links("product", _products(option.chips))),
        (
            "Only there",
            (f"{code(one)} on chip {commas(map(str, on))}" for one, on in option.values.items()),
        ),
        ("Error", style.link("ge-error", option.code)),
        ("Adds to", style.links("data", option.adds_to)),
        (
            "Of use with",
            style.link("ge-option", option.of_use_with) if option.of_use_with else None,
        ),
        ("Not together with", style.links("ge-option", option.excludes)),
        *evidence(option, style),
        resolutions(ge_catalog().errata, option.errata, style),
        table(("value", "switches"), turned) if turned else "",
    )


def _default(node: Mapping[str, Any]) -> str:
    return code(str(node["default"])) if "default" in node else "nothing"


def _deprecated(option: Option) -> str | None:
    return f"{option.deprecated} takes its place." if option.deprecated else None


def _products(chips: tuple[int, ...]) -> list[str]:
    families = catalog().products.values()
    return [one.id for one in families if not chips or set(chips) & set(one.platforms)]


def variable_section(variable: Variable, style: Style) -> str:
    """One variable of the environment, or a name that nothing reads."""
    meant = variable.instead_of_wrong
    return style.page(
        variable.variable,
        variable.summary,
        ("Value", code(variable.value) if variable.value else None),
        ("Meant", style.link("ge-variable", meant) if meant else None),
        *evidence(variable, style),
        resolutions(ge_catalog().errata, variable.errata, style),
    )


def entry_section(entry: EntryOption, style: Style) -> str:
    """One option of the graph engine itself."""
    return style.page(
        entry.key,
        entry.summary,
        ("Value", code(entry.on) if entry.on else None),
        ("Keys", style.links("ge-option", ge_catalog().options) if not entry.on else None),
        *evidence(entry, style),
        resolutions(ge_catalog().errata, entry.errata, style),
    )


def error_section(error: OptionError, style: Style) -> str:
    """One code by which options are refused."""
    options = [one.option for one in ge_catalog().options.values() if one.code == error.code]
    return style.page(
        error.code,
        error.summary,
        ("Of options", style.links("ge-option", options)),
        *evidence(error, style),
    )


def initialisation_section(_: object, style: Style) -> str:
    """The steps, the built-in options and what MsprofInit is called for."""
    entry = ge_catalog().entry
    steps = (
        (str(number), one.step, style.prose(one.summary), citations(one.source, style))
        for number, one in enumerate(entry.steps, 1)
    )
    built_in = ((code(name), code(value)) for name, value in entry.built_in.items())
    types = ((str(one.value), code(one.name)) for one in entry.init_types)
    return style.page(
        INITIALISATION,
        SUMMARY,
        ("Bytes of options that are kept", f"{entry.longest:,}"),
        ("Always on", style.links("switch", entry.always.switches)),
        ("Always recorded", style.links("data", entry.always.data)),
        ("Source", citations(entry.source, style)),
        table(("", "step", "what happens", "source"), steps),
        "Options where the environment has none:",
        table(("option", "value"), built_in),
        "What MsprofInit is called for:",
        table(("number", "name"), types),
    )


SUMMARY = (
    "What happens when GEInitialize or a Session begins: InitProfiling, ProfilingInit::Init and "
    "InitProfOptions."
)


def type_section(kind: ProfilingType, style: Style) -> str:
    """One type of profiling."""
    return style.page(
        kind.name,
        kind.summary,
        ("Number", str(kind.value)),
        ("Mask", code(f"{kind.mask:#x}")),
        ("Turned on by", style.links("switch-bit", kind.switched_by)),
        *evidence(kind, style),
        resolutions(ge_catalog().errata, kind.errata, style),
    )


def bit_section(bit: SwitchBit, style: Style) -> str:
    """One bit of profSwitch."""
    known = ge_catalog().profiling_types.values()
    types = [one.name for one in known if bit.bit in one.switched_by]
    return style.page(
        bit.bit,
        bit.summary,
        ("Mask", code(f"{bit.mask:#x}")),
        ("Also called", map(code, bit.also)),
        ("Set by", _set_by(bit, style) if bit.set_by else "any options"),
        ("Together with", style.link("switch-bit", bit.set_with) if bit.set_with else None),
        ("Turns on", style.links("profiling-type", types)),
        *evidence(bit, style),
        resolutions(ge_catalog().errata, bit.errata, style),
    )


def _set_by(bit: SwitchBit, style: Style) -> Iterator[str]:
    for name, values in bit.set_by.items():
        listed = commas(code(one) if one else "an empty text" for one in values)
        yield f"{style.link('ge-option', name)} {listed}"


def metric_section(metric: Metric, style: Style) -> str:
    """One group of counters by what the collector calls it."""
    return style.page(
        metric.metric,
        metric.summary,
        ("Number", None if metric.value is None else str(metric.value)),
        ("In ge_prof.h", "yes" if metric.public else "no"),
        ("Text of aic_metrics", code(metric.text) if metric.text else None),
        ("Group of counters", style.link("counter-group", metric.group) if metric.group else None),
        ("Chips", style.links("chip", map(str, metric.chips))),
        ("Products", style.links("product", _products(metric.chips)) if metric.chips else None),
        *evidence(metric, style),
        resolutions(ge_catalog().errata, metric.errata, style),
    )


def ge_option_subjects() -> Iterator[Subject]:
    """Options, variables, errors, the initialisation, types, bits and groups of counters."""
    known = ge_catalog()
    entry = known.entry
    yield from things(
        "ge-option",
        known.options,
        "ge/options.md#{anchor}",
        option_section,
        products=lambda one: tuple(_products(one.chips)),
        cells=lambda one: {"type": _type(one), "cost": one.cost.cost_class},
    )
    yield from things(
        "ge-entry",
        {one.key: one for one in (entry.options, entry.mode, entry.job)},
        "ge/entry.md#{anchor}",
        entry_section,
    )
    yield from things(
        "ge-entry",
        {INITIALISATION: entry},
        "ge/entry.md#{anchor}",
        initialisation_section,
        summary=lambda _: SUMMARY,
        also=lambda _: ("InitProfiling", "InitProfOptions", "ParseOptions", "SetExecuteProfiling"),
    )
    yield from things(
        "ge-variable", known.environment, "ge/environment.md#{anchor}", variable_section
    )
    yield from things(
        "ge-error", {one.code: one for one in entry.errors}, "ge/errors.md#{anchor}", error_section
    )
    yield from things(
        "profiling-type",
        known.profiling_types,
        "ge/types.md#{anchor}",
        type_section,
        cells=lambda one: {"mask": f"{one.mask:#x}"},
    )
    yield from things(
        "switch-bit",
        known.switch_bits,
        "ge/bits.md#{anchor}",
        bit_section,
        also=lambda one: (*one.also, f"PROF_{one.bit}"),
        cells=lambda one: {"mask": f"{one.mask:#x}"},
    )
    yield from things(
        "aic-metric",
        known.metrics,
        "ge/metrics.md#{anchor}",
        metric_section,
        cells=lambda one: {"number": "" if one.value is None else str(one.value)},
    )


def _type(option: Option) -> str:
    found: str = ge_catalog().options_schema["properties"][option.option]["type"]
    return found
