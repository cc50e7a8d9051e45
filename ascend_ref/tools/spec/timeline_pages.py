"""Layers, arrows and files of the timelines as Markdown pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ascend_ref.markdown import PLAIN, Style, anchor, code, facts, page, table
from ascend_spec import Catalog, layout_catalog, text_catalog, timeline_catalog
from ascend_spec.timeline import (
    Arg,
    EventKey,
    EventKind,
    FlowEnd,
    FlowIdPart,
    FlowKind,
    Layer,
    MetadataEvent,
    NameForm,
    PidRule,
    Thread,
    TimelineCatalog,
    TimelineFile,
    WriterForm,
)

from .pages import citations, evidence, place_link, resolutions, value_range
from .recording_pages import shown_text
from .subject import Scope, Subject, families, headed, with_section

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
        facts(*_layer_facts(catalog, layer, style)),
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
        facts(*_kind_facts(catalog, layer, kind, style)),
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
            ("Category", code(flow.cat)),
            ("Name", _shown(flow.name)),
            ("Starts at", _end(flow.start, style)),
            ("Ends at", _end(flow.end, style)),
            ("Ends", "one or several" if flow.many_ends else "one"),
            ("Id", "; ".join(ids)),
            ("Without a value", ", ".join(f"{k} counts as {v}" for k, v in missing.items())),
            *evidence(catalog, flow, style),
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
    return page(
        "# Timelines",
        "A file is one array of events in no order of time. A process is a layer: it is known by "
        "its name and its label, since its number and its place differ from writer to writer.",
        table(("layer", "of", "writers", "what it shows"), layers),
        "## Files",
        *(_part(file_section(catalog, one, style, 3)) for one in timelines.files.values()),
        "## Keys of an event",
        *(_part(key_section(one, style, 3)) for one in timelines.keys.values() if one.key),
        "## Metadata",
        *(_part(metadata_section(one, style, 3)) for one in timelines.metadata.values()),
        "## Writers",
        *(_part(form_section(catalog, one, style, 3)) for one in timelines.forms.values()),
        "## Numbers of processes",
        *(_part(pid_section(catalog, one, style, 3)) for one in timelines.pids.values()),
    )


def _part(section: str) -> str:
    return section.rstrip("\n")


def file_section(catalog: Catalog, file: TimelineFile, style: Style = PLAIN, level: int = 1) -> str:
    """One kind of file with a timeline; by itself with the keys of its events and, for each
    writer, their order and the pid.
    """
    timelines = timeline_catalog()
    names = (one.template for one in (file.name, file.sliced) if one is not None)
    rows = [
        (code(key.key), _types(key, file), ", ".join(key.required), _key_meaning(key, style))
        for key in timelines.keys.values()
        if key.key
    ]
    whose = (name for one in file.writers for name in (one, *timelines.forms[one].engines))
    forms = [timelines.forms[one] for one in dict.fromkeys(whose)]
    pids = dict.fromkeys(form.pid for form in forms)
    inner = level + 1
    return page(
        f"{'#' * level} {file.file}",
        style.prose(file.summary),
        facts(
            ("File names", " or ".join(map(code, names))),
            ("Folder", layout_catalog().folder(file.output, "output")),
            ("Written by", style.links("writer", file.writers)),
            ("Source", citations(catalog, file.source, style)),
            ("Errata", style.links("erratum", file.errata)),
        ),
        *(
            (
                f"{'#' * inner} Keys of an event",
                table(("key", "JSON", "in every event of phase", "meaning"), rows),
                f"{'#' * inner} Writers",
                *(_part(form_section(catalog, one, style, inner + 1)) for one in forms),
                f"{'#' * inner} Number of the process",
                *(
                    _part(pid_section(catalog, timelines.pids[one], style, inner + 1))
                    for one in pids
                ),
            )
            if level == 1
            else ()
        ),
    )


def _types(key: EventKey, file: TimelineFile) -> str:
    """The JSON types of a key's value, by writer where they differ."""
    forms = timeline_catalog().forms
    by_writer = {one: " or ".join(forms[one].types.get(key.key, ())) for one in file.writers}
    if len(set(by_writer.values())) == 1:
        return next(iter(by_writer.values()))
    return ", ".join(f"{writer} {types}" for writer, types in by_writer.items() if types)


def _key_meaning(key: EventKey, style: Style) -> str:
    unit = f" In {key.unit}." if key.unit else ""
    errata = f" See {style.links('erratum', key.errata)}." if key.errata else ""
    return f"{style.prose(key.summary)}{unit}{errata}"


def key_section(key: EventKey, style: Style = PLAIN, level: int = 1) -> str:
    """One key of an event."""
    return page(
        f"{'#' * level} {key.key}",
        style.prose(key.summary),
        facts(
            ("Unit", key.unit or ""),
            ("In every event of phase", ", ".join(key.required)),
            ("In some of phase", ", ".join(key.optional)),
            ("In the documents", ", ".join(map(code, key.shown_as))),
            ("Errata", style.links("erratum", key.errata)),
        ),
        resolutions(text_catalog().errata, key.errata, style) if level == 1 else "",
    )


def metadata_section(event: MetadataEvent, style: Style = PLAIN, level: int = 1) -> str:
    """One event of phase M."""
    return page(
        f"{'#' * level} {event.name}",
        style.prose(event.summary),
        facts(
            ("Phase", code("M")),
            ("Arg", code(event.arg)),
            ("JSON", " or ".join(event.json)),
            ("Of", f"a {event.of}"),
        ),
    )


def timeline_subjects(catalog: Catalog) -> Iterator[Subject]:
    """Timelines, their layers, arrows, keys, writers' forms and pids."""
    timelines = timeline_catalog()
    yield from headed(
        "timeline",
        timelines.files,
        "timeline/index.md",
        partial(file_section, catalog),
        also=lambda file: tuple(
            one.template for one in (file.name, file.sliced) if one is not None
        ),
        cells=lambda file: {
            "folder": layout_catalog().folder(file.output, "output"),
            "writers": ", ".join(file.writers),
        },
    )
    for layer in timelines.layers.values():
        yield _layer_subject(catalog, layer)
    yield from headed(
        "flow",
        timelines.flows,
        "timeline/flows.md",
        partial(flow_section, catalog),
        also=lambda flow: (flow.cat,),
        cells=lambda flow: {
            "category": flow.cat,
            "from": flow.start.layer,
            "to": ", ".join(flow.end.at),
        },
    )
    yield from _form_subjects(catalog, timelines)


def _layer_subject(catalog: Catalog, layer: Layer) -> Subject:
    others = timeline_catalog().layers
    older = [one.name for one in layer.names if layer.shown_in is None and one.name not in others]
    found = Subject(
        kind="layer",
        name=layer.name,
        summary=layer.summary,
        page=f"timeline/{layer.slug}.md",
        section=lambda style, _level: layer_page(catalog, layer, style),
        fact=layer,
        also=(layer.slug, *older),
        cells={
            "of": layer.side,
            "writers": ", ".join(layer.writers),
            "events": str(len(layer.events)),
        },
        levels=layer.levels,
        products=families(layer.families),
    )

    def part(scope: Scope) -> Subject:
        events = tuple(
            one
            for one in layer.events
            if (scope.level is None or scope.level in one.levels)
            and (scope.product is None or not one.families or scope.product in one.families)
        )
        left = replace(layer, events=events)
        return with_section(found, lambda style, _level: layer_page(catalog, left, style), left)

    return replace(found, part=part)


def event_subjects(catalog: Catalog) -> Iterator[Subject]:
    """Kinds of events and their args."""
    for layer in timeline_catalog().layers.values():
        for kind in layer.events:
            yield from _kind_subjects(catalog, layer, kind)


def _kind_subjects(catalog: Catalog, layer: Layer, kind: EventKind) -> Iterator[Subject]:
    place = f"timeline/{layer.slug}.md#{anchor(kind.kind)}"
    levels = tuple(one for one in kind.levels if one in layer.levels)
    products = families(kind.families or layer.families)
    yield Subject(
        kind="trace-event",
        name=f"{layer.name}/{kind.kind}",
        summary=kind.summary,
        page=place,
        section=partial(kind_section, catalog, layer, kind),
        fact=kind,
        cells={"phase": kind.phase, "name": kind.name.template},
        levels=levels,
        products=products,
    )
    for name in dict.fromkeys(arg.name.template for arg in kind.args):
        variants = [arg for arg in kind.args if arg.name.template == name]
        yield Subject(
            kind="argument",
            name=f"{layer.name}/{kind.kind}/{name}",
            summary=variants[0].summary,
            page=place,
            section=partial(arg_section, catalog, layer, kind, variants),
            fact=variants,
            cells={"JSON": " or ".join(variants[0].json), "unit": variants[0].unit or ""},
            levels=levels,
            products=products,
        )


def _form_subjects(catalog: Catalog, timelines: TimelineCatalog) -> Iterator[Subject]:
    index = "timeline/index.md"
    yield from headed(
        "trace-key",
        {name: key for name, key in timelines.keys.items() if name},
        index,
        key_section,
        cells=lambda key: {"unit": key.unit or "", "phases": ", ".join(key.required)},
    )
    yield from headed(
        "trace-key",
        timelines.metadata,
        index,
        metadata_section,
        cells=lambda event: {"unit": "", "phases": "M"},
    )
    yield from headed(
        "trace-form",
        timelines.forms,
        index,
        partial(form_section, catalog),
        cells=lambda form: {"pid": form.pid},
    )
    yield from headed(
        "pid-rule",
        timelines.pids,
        index,
        partial(pid_section, catalog),
        cells=lambda rule: {"made of": _made_of(rule)},
    )


def arg_section(
    catalog: Catalog,
    layer: Layer,
    kind: EventKind,
    variants: Sequence[Arg],
    style: Style = PLAIN,
    level: int = 1,
) -> str:
    """One argument of a kind of event, in every form that writers give it."""
    cited = dict.fromkeys(one for arg in variants for one in arg.errata)
    return page(
        f"{'#' * level} {layer.name}/{kind.kind}/{variants[0].name.template}",
        *(
            block
            for arg in variants
            for block in (style.prose(arg.summary), facts(*_arg_facts(catalog, arg, style)))
        ),
        resolutions(text_catalog().errata, cited, style),
    )


def _arg_facts(catalog: Catalog, arg: Arg, style: Style) -> list[tuple[str, str]]:
    return [
        ("Name", _shown(arg.name)),
        ("JSON", " or ".join(arg.json)),
        ("Unit", arg.unit or ""),
        ("Range", value_range(arg.minimum, arg.maximum)),
        ("Pattern", code(arg.pattern) if arg.pattern else ""),
        ("One of", ", ".join(code(one or "empty") for one in arg.values)),
        ("No value", ", ".join(map(code, arg.none))),
        ("May be missing", "" if arg.required else "yes"),
        ("Any number of them", "yes" if arg.many else ""),
        ("Written by", style.links("writer", arg.writers)),
        ("In the documents", ", ".join(map(code, arg.documented_as))),
        ("Shows", shown_text(arg.shows, style)),
        *evidence(catalog, arg, style),
    ]


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
        ("Written by", style.links("writer", layer.writers)),
        ("In files", ", ".join(code(form.files[one].name.template) for one in layer.files)),
        ("Part of", style.link("layer", layer.shown_in) if layer.shown_in else ""),
        ("Place", ", ".join(places)),
        ("Pid", ", ".join(f"{writer} {rule}" for writer, rule in layer.pids.items())),
        ("Products", style.links("product", layer.families)),
        ("Levels", "" if len(layer.levels) == 3 else ", ".join(map(str, layer.levels))),
        ("Switches", style.links("switch", layer.switches)),
        ("Shows the same", ", ".join(place_link(style, one) for one in layer.tables)),
        *evidence(catalog, layer, style),
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
        ("Written by", style.links("writer", kind.writers)),
        ("Products", style.links("product", kind.families)),
        ("Levels", "" if len(kind.levels) == 3 else ", ".join(map(str, kind.levels))),
        ("Args in any order", ", ".join(kind.unordered)),
        ("Order of keys", "; ".join(keys)),
        ("Last ts without decimals", ", ".join(kind.bare_ts)),
        ("Rather", ", ".join(kind.yields_to)),
        ("Shows the same", ", ".join(place_link(style, one) for one in kind.tables)),
        ("In the documents", ", ".join(map(code, kind.documented_as))),
        ("Source", citations(catalog, kind.source, style) if kind.source != layer.source else ""),
        ("Errata", style.links("erratum", kind.errata)),
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
        remarks.append(f"See {style.links('erratum', arg.errata)}")
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


def form_section(catalog: Catalog, form: WriterForm, style: Style = PLAIN, level: int = 1) -> str:
    """How one writer writes a timeline: spacing, types, and the order of keys."""
    rows = (
        (part, code(phase), ", ".join(map(code, keys)))
        for part, how in form.parts.items()
        for phase, keys in how.keys.items()
    )
    labels = (f"{SIDES[side]}: {code(label.template)}" for side, label in form.labels.items())
    types = (f"{key} {' or '.join(types)}" for key, types in form.types.items())
    return page(
        f"{'#' * level} {form.writer}",
        style.prose(form.summary),
        facts(
            ("Layers of msprof", style.links("writer", form.engines)),
            ("Separators", f"{code(form.item_separator)} and {code(form.key_separator)}"),
            ("Beyond ASCII", "escaped" if form.escapes_unicode else "as UTF-8"),
            ("Labels", "; ".join(labels)),
            ("Pid", style.link("pid-rule", form.pid)),
            ("Taken away at level 0", ", ".join(map(code, form.pruned))),
            ("Types", ", ".join(types)),
            *evidence(catalog, form, style),
        ),
        table(("part", "phase", "order of keys"), rows),
    )


def pid_section(catalog: Catalog, rule: PidRule, style: Style = PLAIN, level: int = 1) -> str:
    """How the pid of a layer is made."""
    return page(
        f"{'#' * level} {rule.rule}",
        style.prose(rule.summary),
        facts(
            ("Made of", code(_made_of(rule))),
            ("Bits of each part", _widths(rule)),
            ("Width", f"{rule.bits} bits" if rule.bits else ""),
            ("Device of host layers", str(rule.host_device or "")),
            *evidence(catalog, rule, style),
        ),
    )


def _made_of(rule: PidRule) -> str:
    joined = f" {'|' if rule.join == 'or' else '+'} "
    return joined.join(f"{part.of} * {part.times}" for part in rule.parts)


def _widths(rule: PidRule) -> str:
    return ", ".join(f"{part.of} {part.bits}" for part in rule.parts if part.bits is not None)


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
