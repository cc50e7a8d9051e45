"""Layers, arrows and files of the timelines as Markdown pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from ascend_spec import Catalog
from ascend_spec.timeline import (
    Arg,
    EventKind,
    FlowEnd,
    FlowIdPart,
    FlowKind,
    Layer,
    NameForm,
    PidRule,
    Thread,
    TimelineCatalog,
    TimelineFile,
    WriterForm,
    timeline_catalog,
)

from .pages import citations, place_link, value_range
from .recording_pages import shown_text
from .style import PLAIN, Kind, Style, code, facts, page, table
from .writer_pages import FOLDERS

Render = Callable[[Style], str]

PHASES = {
    "X": "an event with a length",
    "C": "values",
    "s": "the start of an arrow",
    "t": "a step of an arrow",
}
SIDES = {"host": "the host", "device": "the device", "dpu": "a DPU of the host"}


def layer_page(catalog: Catalog, layer: Layer, style: Style = PLAIN) -> str:
    """One layer: its process, its threads and its kinds of events."""
    return page(
        f"# {layer.name}",
        style.prose(layer.summary),
        facts(_layer_facts(catalog, layer, style)),
        style.prose(layer.note or ""),
        *(("## Threads", _threads(layer.threads, style)) if layer.threads else ()),
        "## Events",
        *(kind_section(catalog, layer, one, style, level=3).rstrip("\n") for one in layer.events),
    )


def kind_section(
    catalog: Catalog, layer: Layer, kind: EventKind, style: Style = PLAIN, level: int = 1
) -> str:
    """One kind of event with its args."""
    title = kind.kind if level > 1 else f"{layer.name}/{kind.kind}"
    return page(
        f"{'#' * level} {title}",
        style.prose(kind.summary),
        facts(_kind_facts(catalog, layer, kind, style)),
        table(("arg", "JSON", "unit", "shows", "meaning"), (_arg_row(a, style) for a in kind.args))
        if kind.args
        else "",
    )


def flow_section(catalog: Catalog, flow: FlowKind, style: Style = PLAIN, level: int = 1) -> str:
    """One kind of arrow."""
    ids = (f"{', '.join(one.writers)}: {_flow_id(one.parts)} as {one.json}" for one in flow.ids)
    missing = {name: value for one in flow.ids for name, value in one.missing.items()}
    return page(
        f"{'#' * level} {flow.flow}",
        style.prose(flow.summary),
        facts(
            (
                ("Category", code(flow.cat)),
                ("Name", _shown(flow.name)),
                ("Starts at", _end(flow.start, style)),
                ("Ends at", _end(flow.end, style)),
                ("Ends", "one or several" if flow.many_ends else "one"),
                ("Id", "; ".join(ids)),
                ("Without a value", ", ".join(f"{k} counts as {v}" for k, v in missing.items())),
                ("Grade", flow.grade),
                ("Source", citations(catalog, flow.source, style)),
                ("Errata", _errata(flow.errata, style)),
            )
        ),
    )


def timeline_index(catalog: Catalog, timelines: TimelineCatalog, style: Style = PLAIN) -> str:
    """Every layer, the files that hold them, and what all events have in common."""
    layers = (
        (
            style.link("layer", layer.name),
            SIDES[layer.side],
            ", ".join(layer.writers),
            style.prose(layer.summary),
        )
        for layer in timelines.layers.values()
    )
    keys = (
        (code(key.key), key.unit or "", ", ".join(key.required), style.prose(key.summary))
        for key in timelines.keys.values()
        if key.key
    )
    metadata = (
        (code(one.name), code(one.arg), style.prose(one.summary))
        for one in timelines.metadata.values()
    )
    return page(
        "# Timelines",
        "A file is one array of events in no order of time. A process is a layer: it is known by "
        "its name and its label, since its number and its place differ from writer to writer.",
        table(("layer", "of", "writers", "what it shows"), layers),
        "## Files",
        _files(timelines.files.values(), style),
        "## Keys of an event",
        table(("key", "unit", "phases", "meaning"), keys),
        "## Metadata",
        table(("event", "arg", "meaning"), metadata),
        "## Writers",
        *(_form_section(catalog, one, style).rstrip("\n") for one in timelines.forms.values()),
        "## Numbers of processes",
        *(_pid_section(catalog, one, style).rstrip("\n") for one in timelines.pids.values()),
    )


def flows_page(catalog: Catalog, flows: Iterable[FlowKind], style: Style = PLAIN) -> str:
    """Kinds of arrows, each as a section."""
    return page(
        "# Arrows of the timelines",
        "An arrow is a pair of events of phase s and f with the same category and id.",
        *(flow_section(catalog, one, style, level=2).rstrip("\n") for one in flows),
    )


def timeline_subjects(catalog: Catalog) -> Iterator[tuple[str, Render]]:
    """Every name that a page or section of this module explains.

    A layer that has the name of a table is found behind ``timeline/``.
    """
    timelines = timeline_catalog()
    for layer in timelines.layers.values():
        render = partial(layer_page, catalog, layer)
        for name in (layer.name, layer.slug, f"timeline/{layer.name}"):
            yield name, render
        for kind in layer.events:
            yield f"{layer.name}/{kind.kind}", partial(kind_section, catalog, layer, kind)
    for layer in timelines.layers.values():
        for other in layer.names:
            if layer.shown_in is None and other.name not in timelines.layers:
                yield other.name, partial(layer_page, catalog, layer)
    flows = timelines.flows.values()
    for category in dict.fromkeys(flow.cat for flow in flows):
        alike = [flow for flow in flows if flow.cat == category]
        yield category, partial(flows_page, catalog, alike)
    for flow in flows:
        yield f"flow/{flow.flow}", partial(flow_section, catalog, flow)


def timeline_targets() -> dict[tuple[Kind, str], str]:
    """Where on the site the subjects of this module are explained."""
    timelines = timeline_catalog()
    return {
        **{("layer", one.name): f"timeline/{one.slug}.md" for one in timelines.layers.values()},
        **{("flow", name): f"timeline/flows.md#{name}" for name in timelines.flows},
    }


def timeline_site(catalog: Catalog, below: Style) -> dict[str, str]:
    """The pages of the site by path; ``below`` links from one folder below the root."""
    timelines = timeline_catalog()
    return {
        "timeline/index.md": timeline_index(catalog, timelines, below),
        "timeline/flows.md": flows_page(catalog, timelines.flows.values(), below),
        **{
            f"timeline/{layer.slug}.md": layer_page(catalog, layer, below)
            for layer in timelines.layers.values()
        },
    }


def _layer_facts(catalog: Catalog, layer: Layer, style: Style) -> list[tuple[str, str]]:
    names = (f"{code(one.name)} by {', '.join(one.writers)}" for one in layer.names)
    places = (
        f"{writer} {'as they come' if place is None else place}"
        for writer, place in layer.sort_index.items()
    )
    form = timeline_catalog()
    return [
        ("Process name", _shown(layer.form) if layer.form else code(layer.name)),
        ("Other names", "; ".join(names)),
        ("Of", SIDES[layer.side]),
        ("Written by", ", ".join(style.link("writer", one) for one in layer.writers)),
        ("In files", ", ".join(code(form.files[one].name.template) for one in layer.files)),
        ("Part of", style.link("layer", layer.shown_in) if layer.shown_in else ""),
        ("Place", ", ".join(places)),
        ("Pid", ", ".join(f"{writer} {rule}" for writer, rule in layer.pids.items())),
        ("Products", ", ".join(style.link("product", one) for one in layer.families)),
        ("Levels", "" if len(layer.levels) == 3 else ", ".join(map(str, layer.levels))),
        ("Switches", ", ".join(style.link("switch", one) for one in layer.switches)),
        ("Tells the same", ", ".join(place_link(style, one) for one in layer.tables)),
        ("Grade", layer.grade),
        ("Source", citations(catalog, layer.source, style)),
        ("Errata", _errata(layer.errata, style)),
    ]


def _kind_facts(
    catalog: Catalog, layer: Layer, kind: EventKind, style: Style
) -> list[tuple[str, str]]:
    keys = (f"{writer} {', '.join(map(code, order))}" for writer, order in kind.keys.items())
    return [
        ("Phase", f"{code(kind.phase)}, {PHASES[kind.phase]}"),
        ("Name", _shown(kind.name)),
        ("Category", code(kind.cat) if kind.cat else ""),
        ("Id", code(kind.id.template) if kind.id else ""),
        ("Thread", kind.thread or ""),
        ("When", style.prose(kind.when or "").rstrip(".")),
        ("Written by", ", ".join(style.link("writer", one) for one in kind.writers)),
        ("Products", ", ".join(style.link("product", one) for one in kind.families)),
        ("Levels", "" if len(kind.levels) == 3 else ", ".join(map(str, kind.levels))),
        ("Args in any order", ", ".join(kind.unordered)),
        ("Order of keys", "; ".join(keys)),
        ("Last ts without decimals", ", ".join(kind.bare_ts)),
        ("Rather", ", ".join(kind.yields_to)),
        ("Tells the same", ", ".join(place_link(style, one) for one in kind.tables)),
        ("In the documents", ", ".join(map(code, kind.documented_as))),
        ("Source", citations(catalog, kind.source, style) if kind.source != layer.source else ""),
        ("Errata", _errata(kind.errata, style)),
    ]


def _arg_row(arg: Arg, style: Style) -> tuple[str, str, str, str, str]:
    remarks = [style.prose(arg.summary).rstrip(".")]
    if arg.values:
        remarks.append(f"One of {', '.join(code(one or 'empty') for one in arg.values)}")
    if bounds := value_range(arg.minimum, arg.maximum):
        remarks.append(bounds[0].upper() + bounds[1:])
    if arg.none:
        remarks.append(f"No value: {', '.join(map(code, arg.none))}")
    if not arg.required:
        remarks.append("May be missing")
    if arg.many:
        remarks.append("Any number of them")
    if arg.writers:
        remarks.append(f"By {', '.join(arg.writers)}")
    if arg.errata:
        remarks.append(f"See {_errata(arg.errata, style)}")
    return (
        _shown(arg.name),
        " or ".join(arg.json),
        arg.unit or "",
        shown_text(arg.shows, style),
        f"{'. '.join(remarks)}.",
    )


def _threads(threads: Iterable[Thread], style: Style) -> str:
    rows = (
        (
            code(one.name.template) if one.name else "none",
            _sum(one.tid),
            _sum(one.sort_index) if one.sort_index else "",
            ", ".join(one.writers),
            style.prose(one.summary),
        )
        for one in threads
    )
    return table(("thread", "tid", "place", "writers", "what it holds"), rows)


def _files(files: Iterable[TimelineFile], style: Style) -> str:
    rows = (
        (
            code(file.name.template),
            FOLDERS[file.output],
            ", ".join(style.link("writer", one) for one in file.writers),
            style.prose(file.summary),
        )
        for file in files
    )
    return table(("file", "folder", "writers", "what it holds"), rows)


def _form_section(catalog: Catalog, form: WriterForm, style: Style) -> str:
    rows = (
        (part, code(phase), ", ".join(map(code, keys)))
        for part, how in form.parts.items()
        for phase, keys in how.keys.items()
    )
    labels = (f"{SIDES[side]}: {code(label.template)}" for side, label in form.labels.items())
    types = (f"{key} {' or '.join(types)}" for key, types in form.types.items())
    return page(
        f"### {form.writer}",
        style.prose(form.summary),
        facts(
            (
                ("Layers of msprof", ", ".join(style.link("writer", one) for one in form.engines)),
                ("Separators", f"{code(form.item_separator)} and {code(form.key_separator)}"),
                ("Beyond ASCII", "escaped" if form.escapes_unicode else "as UTF-8"),
                ("Labels", "; ".join(labels)),
                ("Pid", form.pid),
                ("Taken away at level 0", ", ".join(map(code, form.pruned))),
                ("Types", ", ".join(types)),
                ("Grade", form.grade),
                ("Source", citations(catalog, form.source, style)),
                ("Errata", _errata(form.errata, style)),
            )
        ),
        table(("part", "phase", "order of keys"), rows),
    )


def _pid_section(catalog: Catalog, rule: PidRule, style: Style) -> str:
    joined = f" {'|' if rule.join == 'or' else '+'} "
    parts = joined.join(f"{part.of} * {part.times}" for part in rule.parts)
    return page(
        f"### {rule.rule}",
        style.prose(rule.summary),
        facts(
            (
                ("Made of", code(parts)),
                ("Width", f"{rule.bits} bits" if rule.bits else ""),
                ("Device of host layers", str(rule.host_device or "")),
                ("Grade", rule.grade),
                ("Source", citations(catalog, rule.source, style)),
                ("Errata", _errata(rule.errata, style)),
            )
        ),
    )


def _end(end: FlowEnd, style: Style) -> str:
    places = (
        f"{style.link('layer', layer)} ({', '.join(kinds)})" for layer, kinds in end.at.items()
    )
    inside = "" if end.on_slice else "; the instant may lie in no event"
    return f"{', '.join(places)}: {style.prose(end.when).rstrip('.')}{inside}"


def _flow_id(parts: Iterable[FlowIdPart]) -> str:
    return " + ".join(
        code(f"{part.of} << {part.shift}" if part.shift else part.of) for part in parts
    )


def _sum(parts: Iterable[int | str]) -> str:
    return " + ".join(map(str, parts))


def _shown(name: NameForm) -> str:
    """A form of a name, with what its parts can be."""
    parts: Mapping[str, str] = {
        field.name: ", ".join(code(value or "empty") for value in field.values)
        for field in name.fields.values()
        if field.values
    }
    told = "; ".join(f"{name} one of {values}" for name, values in parts.items())
    shown = code(name.template) if name.template else "empty"
    return f"{shown} ({told})" if told else shown


def _errata(identifiers: Iterable[str], style: Style) -> str:
    return ", ".join(style.link("erratum", one) for one in identifiers)
