"""Timelines as a writer writes them: layers, threads, events, args, arrows."""

from __future__ import annotations

from ascend_spec import Spec
from ascend_spec.timeline import TimelineCatalog
from ascend_spec.timeline.model import Arg, EventKind, FlowKind, Layer, Thread, WriterForm

from .element import Element, Fact, Limits
from .facts import alterations, closed, counted, on_day, own_facts, show_text, text


def timelines(spec: Spec, at: str) -> Element:
    """The timelines of a writer, or of one on a day; without any form if it writes none."""
    catalog = spec.timeline
    writer, day = on_day(spec, at)
    if writer not in catalog.forms:
        return Element("trace-form", writer, "timelines", shown="no timelines")
    form = catalog.form(writer)
    layers = (_layer(catalog, one, writer, day) for one in catalog.layers_of(writer))
    flows = (_flow(one, writer, form) for one in catalog.flows_of(writer))
    files = (
        Element("timeline", one.file, one.file, own_facts(one, without=("file", "writers")))
        for one in catalog.files.values()
        if writer in one.writers
    )
    pids = (Element("pid-rule", name, name, own_facts(one)) for name, one in catalog.pids.items())
    keys = (Element("trace-key", name, name, own_facts(one)) for name, one in catalog.keys.items())
    return Element(
        "trace-form",
        writer,
        "timelines",
        facts=_form(form),
        children=(*files, *layers, *flows, *pids, *keys),
        shown=form.summary,
    )


def _form(form: WriterForm) -> dict[str, Fact]:
    return own_facts(form, without=("writer", "summary", "engines"))


def _layer(catalog: TimelineCatalog, layer: Layer, writer: str, day: str) -> Element:
    engines = catalog.engines(writer, layer)
    by = next(one for one in engines if one in layer.writers)
    events = (_event(layer, one, by, day) for one in layer.events_of(by))
    threads = (_thread(layer, one) for one in layer.threads_of(by))
    return Element(
        "layer",
        layer.name,
        layer.name,
        facts={
            "summary": layer.summary,
            "called": layer.process_name(by),
            "part": layer.part,
            "side": layer.side,
            "sort index": layer.sort_index.get(by),
            "pid": layer.pids.get(by),
            "metadata": layer.metadata.get(by),
            "files": frozenset(layer.files),
            "shown in": layer.shown_in,
            "products": closed(layer.families),
            "switches": frozenset(layer.switches),
            "levels": frozenset(map(str, layer.levels)),
        },
        children=(*threads, *events),
        former=tuple(one.name for one in layer.names),
        shown=counted(len(layer.events), "kind") + " of events",
    )


def _thread(layer: Layer, thread: Thread) -> Element:
    facts = own_facts(thread, without=("thread", "writers"))
    return Element("layer", layer.name, thread.thread, facts, part="thread", place=thread.thread)


def _event(layer: Layer, event: EventKind, by: str, day: str) -> Element:
    name = f"{layer.name}/{event.kind}"
    args = tuple(_arg(name, one, day) for one in event.args_of(by))
    return Element(
        "trace-event",
        name,
        event.kind,
        facts={
            "summary": event.summary,
            "name": event.name.template,
            "phase": event.phase,
            "category": event.cat,
            "flow id": event.id.template if event.id else None,
            "thread": event.thread,
            "keys": event.keys.get(by),
            "args in order": by not in event.unordered,
            "levels": frozenset(map(str, event.levels)),
            "products": closed(event.families),
            "shows": text({key: show_text(one) for key, one in event.shows.items()}),
        },
        children=args,
        shown=event.name.template,
    )


def _arg(event: str, arg: Arg, day: str) -> Element:
    name = f"{event}/{arg.name.template}"
    return Element(
        "argument",
        name,
        arg.name.template,
        facts={
            "summary": arg.summary,
            "types": frozenset(arg.json),
            "unit": arg.unit,
            "range": Limits(arg.minimum, arg.maximum),
            "pattern": arg.pattern,
            "members": closed(arg.values),
            "no value": frozenset(map(str, arg.none)),
            "required": arg.required,
            "repeats": arg.many,
            "shows": show_text(arg.shows),
        },
        children=tuple(alterations("argument", name, arg.changed, day)),
        ordered=True,
        shown=" or ".join(arg.json),
    )


def _flow(flow: FlowKind, writer: str, form: WriterForm) -> Element:
    made = next((made for one in (writer, *form.engines) if (made := flow.id_of(one))), None)
    ends = {"start": flow.start, "end": flow.end}
    return Element(
        "flow",
        flow.flow,
        flow.flow,
        facts={
            "summary": flow.summary,
            "category": flow.cat,
            "name": flow.name.template,
            "id": text(made.parts) if made else None,
            "id type": frozenset((made.json,)) if made else None,
            "many ends": flow.many_ends,
            **{f"{end} at": text(one.at) for end, one in ends.items()},
            **{f"{end} bound": writer in one.bp for end, one in ends.items()},
        },
        shown=flow.name.template,
    )
