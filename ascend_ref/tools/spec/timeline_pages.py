"""Layers, arrows and files of the timelines as Markdown pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from ascend_ref.markdown import Fact, Style, anchor, code, commas, page, sentences, table
from ascend_spec import layout_catalog, text_catalog, timeline_catalog
from ascend_spec.core.names import Field, NameForm
from ascend_spec.raw.shown import raw_sources
from ascend_spec.timeline import (
    Arg,
    EventKey,
    EventKind,
    FlowEnd,
    FlowIdPart,
    FlowKind,
    Layer,
    MetadataEvent,
    PidRule,
    Thread,
    TimelineFile,
    WriterForm,
)

from .listing import index
from .pages import (
    citations,
    evidence,
    place_link,
    resolutions,
    some_levels,
    value_range,
    variants_page,
)
from .recording_pages import shown_text
from .subject import Fields, Scope, Subject, grouped, things

PHASES = {
    "X": "an event with a length",
    "i": "an event without a length",
    "C": "values",
    "s": "the start of an arrow",
    "t": "a step of an arrow",
}
SIDES = {"host": "the host", "device": "the device", "dpu": "a DPU of the host"}


def layer_page(layer: Layer, style: Style) -> str:
    """One layer: its process, its threads and its kinds of events."""
    names = (f"{code(one.name)} by {', '.join(one.writers)}" for one in layer.names)
    places = (
        f"{writer} {'as they come' if place is None else place}"
        for writer, place in layer.sort_index.items()
    )
    files = timeline_catalog().files
    return style.page(
        layer.name,
        layer.summary,
        ("Process name", _shown(layer.form) if layer.form else code(layer.name)),
        ("Other names", "; ".join(names)),
        ("Of", SIDES[layer.side]),
        ("Written by", style.links("writer", layer.writers)),
        ("In files", (code(files[one].name.template) for one in layer.files)),
        ("Part of", style.link("layer", layer.shown_in) if layer.shown_in else None),
        ("Place", places),
        ("Pid", (f"{writer} {rule}" for writer, rule in layer.pids.items())),
        ("Products", style.links("product", layer.families)),
        ("Levels", some_levels(layer.levels)),
        ("Switches", style.links("switch", layer.switches)),
        ("Made of raw files", style.links("raw", raw_sources(f"layer/{layer.name}"))),
        ("Shows the same", (place_link(style, one) for one in layer.tables)),
        *evidence(layer, style),
        style.prose(layer.note),
        *(("## Threads", _threads(layer.threads, style)) if layer.threads else ()),
        "## Events",
        *(kind_section(layer, one, style.below(2)) for one in layer.events),
    )


def kind_section(layer: Layer, kind: EventKind, style: Style) -> str:
    """One kind of event with its args."""
    keys = (f"{writer} {', '.join(map(code, order))}" for writer, order in kind.keys.items())
    return style.page(
        kind.kind if style.level > 1 else f"{layer.name}/{kind.kind}",
        kind.summary,
        ("Phase", f"{code(kind.phase)}, {PHASES[kind.phase]}"),
        ("Name", _shown(kind.name)),
        ("Category", code(kind.cat) if kind.cat else None),
        ("Id", code(kind.id.template) if kind.id else None),
        ("Thread", kind.thread),
        ("When", style.prose(kind.when).rstrip(".")),
        ("Written by", style.links("writer", kind.writers)),
        ("Products", style.links("product", kind.families)),
        ("Levels", some_levels(kind.levels)),
        ("Args in any order", kind.unordered),
        ("Order of keys", "; ".join(keys)),
        ("Last ts without decimals", kind.bare_ts),
        ("Rather", kind.yields_to),
        ("Shows the same", (place_link(style, one) for one in kind.tables)),
        ("In the documents", map(code, kind.documented_as)),
        ("Source", citations(kind.source, style) if kind.source != layer.source else None),
        ("Errata", style.links("erratum", kind.errata)),
        table(("arg", "JSON", "unit", "shows", "meaning"), (_arg_row(a, style) for a in kind.args))
        if kind.args
        else "",
    )


def flow_section(flow: FlowKind, style: Style) -> str:
    """One kind of arrow."""
    ids = (f"{', '.join(one.writers)}: {_flow_id(one.parts)} as {one.json}" for one in flow.ids)
    missing = {name: value for one in flow.ids for name, value in one.missing.items()}
    return style.page(
        flow.flow,
        flow.summary,
        ("Category", code(flow.cat)),
        ("Name", _shown(flow.name)),
        ("Starts at", _end(flow.start, style)),
        ("Ends at", _end(flow.end, style)),
        ("Ends", "one or several" if flow.many_ends else "one"),
        ("Id", "; ".join(ids)),
        ("Without a value", (f"{name} counts as {value}" for name, value in missing.items())),
        *evidence(flow, style),
    )


def timeline_index(style: Style) -> str:
    """Every layer, the files that hold them, and what all events have in common."""
    timelines, inner = timeline_catalog(), style.below(2)
    return page(
        "# Timelines",
        "A file is one array of events in no order of time. A process is a layer: it is known by "
        "its name and its label, since its number and its place differ from writer to writer.",
        index("layer", style),
        "## Files",
        *(file_section(one, inner) for one in timelines.files.values()),
        "## Keys of an event",
        *(key_section(one, inner) for one in timelines.keys.values() if one.key),
        "## Metadata",
        *(metadata_section(one, inner) for one in timelines.metadata.values()),
        "## Writers",
        *(form_section(one, inner) for one in timelines.forms.values()),
        "## Numbers of processes",
        *(pid_section(one, inner) for one in timelines.pids.values()),
    )


def file_section(file: TimelineFile, style: Style) -> str:
    """One kind of file with a timeline; by itself with the keys of its events and, for each
    writer, their order and the pid.
    """
    timelines, inner = timeline_catalog(), style.below()
    rows = [
        (code(key.key), _types(key, file), ", ".join(key.required), _key_meaning(key, style))
        for key in timelines.keys.values()
        if key.key
    ]
    whose = (name for one in file.writers for name in (one, *timelines.forms[one].engines))
    forms = [timelines.forms[one] for one in dict.fromkeys(whose)]
    pids = dict.fromkeys(form.pid for form in forms)
    details = (
        inner.heading("Keys of an event"),
        table(("key", "JSON", "in every event of phase", "meaning"), rows),
        inner.heading("Writers"),
        *(form_section(one, inner.below()) for one in forms),
        inner.heading("Number of the process"),
        *(pid_section(timelines.pids[one], inner.below()) for one in pids),
    )
    return style.page(
        file.file,
        file.summary,
        ("File names", " or ".join(map(code, _file_names(file)))),
        ("Folder", layout_catalog().folder(file.output, "output")),
        ("Written by", style.links("writer", file.writers)),
        ("Source", citations(file.source, style)),
        ("Errata", style.links("erratum", file.errata)),
        *(details if style.level == 1 else ()),
    )


def _file_names(file: TimelineFile) -> tuple[str, ...]:
    return tuple(one.template for one in (file.name, file.sliced) if one is not None)


def _types(key: EventKey, file: TimelineFile) -> str:
    """The JSON types of a key's value, by writer where they differ."""
    forms = timeline_catalog().forms
    by_writer = {one: " or ".join(forms[one].types.get(key.key, ())) for one in file.writers}
    if len(set(by_writer.values())) == 1:
        return next(iter(by_writer.values()))
    return ", ".join(f"{writer} {types}" for writer, types in by_writer.items() if types)


def _key_meaning(key: EventKey, style: Style) -> str:
    unit = f"In {key.unit}" if key.unit else ""
    return sentences(style.prose(key.summary), unit, style.see(key.errata))


def key_section(key: EventKey, style: Style) -> str:
    """One key of an event."""
    return style.page(
        key.key,
        key.summary,
        ("Unit", key.unit),
        ("In every event of phase", key.required),
        ("In some of phase", key.optional),
        ("In the documents", map(code, key.shown_as)),
        ("Errata", style.links("erratum", key.errata)),
        resolutions(text_catalog().errata, key.errata, style) if style.level == 1 else "",
    )


def metadata_section(event: MetadataEvent, style: Style) -> str:
    """One event of phase M."""
    return style.page(
        event.name,
        event.summary,
        ("Phase", code("M")),
        ("Arg", code(event.arg)),
        ("JSON", " or ".join(event.json)),
        ("Of", f"a {event.of}"),
    )


def timeline_subjects() -> Iterator[Subject]:
    """Timelines, their layers, arrows, keys, writers' forms and pids."""
    timelines, index = timeline_catalog(), "timeline/index.md#{anchor}"
    others = timelines.layers.keys()
    yield from things(
        "timeline",
        timelines.files,
        index,
        file_section,
        also=_file_names,
        cells=lambda file: {
            "folder": layout_catalog().folder(file.output, "output"),
            "writers": commas(file.writers),
        },
    )
    yield from things(
        "layer",
        timelines.layers,
        "timeline/{fact.slug}.md",
        layer_page,
        also=lambda layer: (
            layer.slug,
            *(one.name for one in layer.names if not layer.shown_in and one.name not in others),
        ),
        cells=lambda layer: {
            "of": layer.side,
            "writers": commas(layer.writers),
            "events": str(len(layer.events)),
        },
        levels=lambda layer: layer.levels,
        products=lambda layer: layer.families or None,
        writers=lambda layer: layer.writers,
        part=lambda layer: partial(_part_of_layer, layer),
    )
    yield from things(
        "flow",
        timelines.flows,
        "timeline/flows.md#{anchor}",
        flow_section,
        also=lambda flow: (flow.cat,),
        cells=lambda flow: {
            "category": flow.cat,
            "from": flow.start.layer,
            "to": commas(flow.end.at),
        },
    )
    yield from things(
        "trace-key",
        {name: key for name, key in timelines.keys.items() if name},
        index,
        key_section,
        cells=lambda key: {"unit": key.unit or "", "phases": commas(key.required)},
    )
    yield from things(
        "trace-key",
        timelines.metadata,
        index,
        metadata_section,
        cells=lambda event: {"unit": "", "phases": "M"},
    )
    yield from things(
        "trace-form", timelines.forms, index, form_section, cells=lambda form: {"pid": form.pid}
    )
    yield from things(
        "pid-rule",
        timelines.pids,
        index,
        pid_section,
        cells=lambda rule: {"made of": _made_of(rule)},
    )


def _part_of_layer(layer: Layer, scope: Scope) -> Fields:
    """What a level, a product and a writer leave of the events and threads."""
    kept = [one for one in layer.events if scope.keeps(one.levels, one.families)]
    left = replace(layer, events=tuple(kept))
    if scope.writer is not None:
        by = scope.writer
        events = (replace(one, args=one.args_of(by)) for one in left.events_of(by))
        left = replace(left, events=tuple(events), threads=left.threads_of(by))
    return {"section": partial(layer_page, left), "fact": left}


def event_subjects() -> Iterator[Subject]:
    """Kinds of events and their args."""
    for layer in timeline_catalog().layers.values():
        for kind in layer.events:
            shared: Fields = {
                "page": f"timeline/{layer.slug}.md#{anchor(kind.kind)}",
                "levels": tuple(one for one in kind.levels if one in layer.levels),
                "products": kind.families or layer.families or None,
            }
            yield Subject(
                "trace-event",
                f"{layer.name}/{kind.kind}",
                kind.summary,
                section=partial(kind_section, layer, kind),
                fact=kind,
                cells={"phase": kind.phase, "name": kind.name.template},
                **shared,
            )
            for name, variants in grouped(kind.args, lambda arg: arg.name.template).items():
                title = f"{layer.name}/{kind.kind}/{name}"
                yield Subject(
                    "argument",
                    title,
                    variants[0].summary,
                    section=partial(variants_page, title, variants, _arg_facts),
                    fact=variants,
                    cells={"JSON": " or ".join(variants[0].json), "unit": variants[0].unit or ""},
                    **shared,
                )


def _arg_facts(arg: Arg, style: Style) -> tuple[Fact, ...]:
    return (
        ("Name", _shown(arg.name)),
        ("JSON", " or ".join(arg.json)),
        ("Unit", arg.unit),
        ("Range", value_range(arg.minimum, arg.maximum)),
        ("Pattern", code(arg.pattern) if arg.pattern else None),
        ("One of", (code(one or "empty") for one in arg.values)),
        ("No value", map(code, arg.none)),
        ("May be missing", None if arg.required else "yes"),
        ("Any number of them", "yes" if arg.many else None),
        ("Written by", style.links("writer", arg.writers)),
        ("In the documents", map(code, arg.documented_as)),
        ("Shows", shown_text(arg.shows, style)),
        *evidence(arg, style),
    )


def _arg_row(arg: Arg, style: Style) -> tuple[str, ...]:
    meaning = sentences(
        style.prose(arg.summary),
        f"One of {commas(code(one or 'empty') for one in arg.values)}" if arg.values else "",
        value_range(arg.minimum, arg.maximum),
        f"No value: {commas(map(code, arg.none))}" if arg.none else "",
        "" if arg.required else "May be missing",
        "Any number of them" if arg.many else "",
        f"By {commas(arg.writers)}" if arg.writers else "",
        style.see(arg.errata),
    )
    shows = shown_text(arg.shows, style)
    return _shown(arg.name), " or ".join(arg.json), arg.unit or "", shows, meaning


def _threads(threads: Iterable[Thread], style: Style) -> str:
    rows = (
        (
            code(one.name.template) if one.name else "none",
            _sum(one.tid),
            _sum(one.sort_index) if one.sort_index else "",
            commas(one.writers),
            style.prose(one.summary),
        )
        for one in threads
    )
    return table(("thread", "tid", "place", "writers", "what it holds"), rows)


def form_section(form: WriterForm, style: Style) -> str:
    """How one writer writes a timeline: spacing, types, and the order of keys."""
    rows = (
        (part, code(phase), commas(map(code, keys)))
        for part, how in form.parts.items()
        for phase, keys in how.keys.items()
    )
    labels = (f"{SIDES[side]}: {code(label.template)}" for side, label in form.labels.items())
    return style.page(
        form.writer,
        form.summary,
        ("Layers of msprof", style.links("writer", form.engines)),
        ("Separators", f"{code(form.item_separator)} and {code(form.key_separator)}"),
        ("Beyond ASCII", "escaped" if form.escapes_unicode else "as UTF-8"),
        ("Labels", "; ".join(labels)),
        ("Pid", style.link("pid-rule", form.pid)),
        ("Taken away at level 0", map(code, form.pruned)),
        ("Types", (f"{key} {' or '.join(types)}" for key, types in form.types.items())),
        *evidence(form, style),
        table(("part", "phase", "order of keys"), rows),
    )


def pid_section(rule: PidRule, style: Style) -> str:
    """How the pid of a layer is made."""
    widths = (f"{part.of} {part.bits}" for part in rule.parts if part.bits is not None)
    return style.page(
        rule.rule,
        rule.summary,
        ("Made of", code(_made_of(rule))),
        ("Bits of each part", widths),
        ("Width", f"{rule.bits} bits" if rule.bits else None),
        ("Device of host layers", str(rule.host_device or "")),
        *evidence(rule, style),
    )


def _made_of(rule: PidRule) -> str:
    joined = f" {'|' if rule.join == 'or' else '+'} "
    return joined.join(f"{part.of} * {part.times}" for part in rule.parts)


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
    known = "; ".join(filter(None, map(_field, name.fields.values())))
    shown = code(name.template) if name.template else "empty"
    return f"{shown} ({known})" if known else shown


def _field(field: Field) -> str:
    """What a part of a name can be, and what it means; empty where neither is known."""
    values = commas(code(value or "empty") for value in field.values)
    known = f"{field.name} one of {values}" if values else ""
    return f"{known or field.name}: {field.summary.rstrip('.')}" if field.summary else known
