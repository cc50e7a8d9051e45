"""Time lines that msprof exported, those of several ranks in one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ascend_ref.raw.damage import Damage, few
from ascend_spec import mindspore_catalog, per_spec, timeline_catalog
from ascend_spec.mindspore.requests import LAST_VIEWED

from ..scopes import LAYER as SCOPES
from ..scopes import moment, process_events, scope_events, scoped
from .condition import Condition, WrongCondition
from .exports import Event, Export, find_exports, whole
from .files import Folder
from .ranks import number

OPTION, SUMMARY = "option", "summary"
TIMELINE, STEPS, ON_HOST = "timeline", "step_trace_json", "cpu_operators"
HARDWARE, COMMUNICATION, CANN = "Ascend Hardware", "Communication", "CANN"
OVERLAP, STEP_TRACE, HOST = "Overlap Analysis", "Step Trace", "CPU OP"
SHOWN = (HARDWARE, COMMUNICATION, CANN, OVERLAP)
"""Layers of msprof, in the order in which their events follow each other."""

TITLES = {COMMUNICATION: "HCCL"}
"""Layers that the viewer calls otherwise than msprof does."""

PLACES = {
    name: place
    for place, name in enumerate(
        (STEP_TRACE, CANN, SCOPES, HARDWARE, COMMUNICATION, HOST, OVERLAP), 1
    )
}
"""Of layers among those of a rank."""

METADATA, NAMES_PROCESS, NAMES_THREAD = "M", "process_name", "thread_name"
OF_PROCESS = (NAMES_PROCESS, "process_sort_index")
NS, MS = Decimal("0.001"), 1e3
"""In us."""


@dataclass(frozen=True, slots=True)
class Rank:
    """One rank as it is shown. ``models``: its graphs, ``None`` for all and what is of none."""

    export: Export
    models: set[int] | None
    is_merged: bool

    def pid(self, layer: str) -> int:
        """The number of a process: the place of its layer before the rank."""
        return int(f"{PLACES[layer]}{self.export.rank}")

    def head(self, layer: str) -> list[Event]:
        """The events that name a process and give its place."""
        title = self.title(layer)
        return [dict(one) for one in process_events(self.pid(layer), PLACES[layer], title)]

    def moved(self, event: Event, layer: str) -> Event:
        """An event in the process of a layer, by the clock of all ranks."""
        found = {**event, "pid": self.pid(layer)}
        time = moment(event.get("ts"))
        if time is not None:
            found["ts"] = str(time - self.export.shift)
        if _is_of_process(event):
            own = next(one for one in self.head(layer) if one["name"] == event["name"])
            found["args"] = {**event.get("args", {}), **own["args"]}
        return found

    def title(self, layer: str) -> str:
        """What a process is called."""
        return f"{TITLES.get(layer, layer)} Rank{self.export.rank}"


def answer_exported(folder: Folder, condition: Condition) -> dict[str, Any]:
    """The ranks and models that there are, or the events of some of them.

    Raises :class:`WrongCondition`.
    """
    exports = find_exports(folder)
    kind = condition.switch("kind")
    if kind == OPTION:
        models = sorted(_models(exports))
        return {"rank_list": [one.rank for one in exports], "model_list": models}
    wanted, chosen = (_numbers(condition, name) for name in ("rank_list", "model_list"))
    shown = [one for one in exports if wanted is None or one.rank in wanted]
    for absent in sorted((wanted or set()) - {one.rank for one in shown}):
        folder.damage.append(Damage(folder.path, f"no time line of rank {absent}", kind=TIMELINE))
    if kind == SUMMARY or (chosen is not None and chosen == _models(shown)):
        chosen = None
    events: list[Event] = []
    for export in shown:
        rank = Rank(export, chosen, condition.switch("merge_model"))
        events += _steps(rank)
        if kind == SUMMARY:
            events += _overlap(rank)
        else:
            events += _details(rank, has_scopes=condition.switch("scope_name"))
    return {"events": events}


def _models(exports: Iterable[Export]) -> set[int]:
    return {model for one in exports for model in one.models()}


def _numbers(condition: Condition, name: str) -> set[int] | None:
    """The numbers of a switch of texts; ``None`` where it is not given."""
    texts = condition.switch(name)
    if texts is None:
        return None
    found = {whole(one) for one in texts}
    if None in found:
        raise WrongCondition(f"{name}: expected whole numbers, got {texts!r:.60}", "filter")
    return {one for one in found if one is not None}


def _steps(rank: Rank) -> Iterator[Event]:
    """The steps of each model: all on one line, or each on its own."""
    events = rank.export.events(STEPS)
    processes = [one["pid"] for one in events if _is_named(one, NAMES_PROCESS) and "pid" in one]
    if not processes:
        return
    taken = [one for one in events if one.get("pid") == processes[-1]]
    models = {one.get("tid"): _model(_title(one)) for one in taken if _is_named(one, NAMES_THREAD)}
    wanted = {
        tid
        for tid, model in models.items()
        if model is not None and (rank.models is None or model in rank.models)
    }
    if rank.is_merged:
        yield from rank.head(STEP_TRACE)
        line = {"pid": rank.pid(STEP_TRACE), "tid": 0}
        yield {"name": NAMES_THREAD, **line, "args": {"name": "iterations"}, "ph": METADATA}
        for one in taken:
            if not _is_metadata(one) and one.get("tid") in wanted:
                named = {"name": _of_model(one, models[one.get("tid")]), "tid": 0}
                yield rank.moved({**one, **named}, STEP_TRACE)
        return
    for one in taken:
        if rank.models is None or one.get("tid") in wanted or _is_of_process(one):
            yield rank.moved(one, STEP_TRACE)


def _of_model(event: Event, model: int | None) -> str:
    """The name of an event of steps, with the model where it is that of a step."""
    name = str(event.get("name", "")).strip()
    (step,) = (
        one.name for one in timeline_catalog().layers[STEP_TRACE].events if one.kind == "iteration"
    )
    is_step = event.get("ph") == "X" and step.fits(name)
    return f"Model {model} {name}" if is_step else str(event.get("name", ""))


def _model(title: str) -> int | None:
    """The model that the name of a thread of steps has."""
    for one in timeline_catalog().layers[STEP_TRACE].threads:
        parts = one.name.named(title) if one.name else None
        if parts:
            return int(parts["modelId"])
    return None


def _overlap(rank: Rank) -> Iterator[Event]:
    events = rank.export.events(TIMELINE)
    processes = [one.get("pid") for one in events if _layer(one) == OVERLAP]
    if processes:
        yield from (rank.moved(one, OVERLAP) for one in events if one.get("pid") == processes[0])


def _details(rank: Rank, *, has_scopes: bool) -> Iterator[Event]:
    events = rank.export.events(TIMELINE)
    if rank.export.files(TIMELINE):
        yield from _of_layers(rank, events)
    operators = list(scoped(one for one in events if _is_wanted(one, rank)))
    if rank.models is None:
        on_host = list(_on_host(rank))
        yield from (rank.moved(one, HOST) for one in on_host)
        operators += scoped(on_host)
    if has_scopes:
        shift, title = rank.export.shift, rank.title(SCOPES)
        within = [(names, start - shift, end - shift) for names, start, end in operators if names]
        yield from map(dict, scope_events(within, rank.pid(SCOPES), PLACES[SCOPES], title))


def _of_layers(rank: Rank, events: Iterable[Event]) -> Iterator[Event]:
    """The events of msprof that are shown, layer by layer."""
    processes = {_layer(one): one.get("pid") for one in events}
    for layer in SHOWN:
        yield from rank.head(layer)
    streams = {
        one.get("tid"): one for one in events if _is_named(one, NAMES_THREAD) and _is_stream(one)
    }
    yield from (rank.moved(one, HARDWARE) for one in streams.values())
    for layer in SHOWN:
        process = processes.get(layer)
        if process is None or (rank.models is not None and layer in (CANN, OVERLAP)):
            continue
        for one in events:
            if one.get("pid") != process or _is_of_process(one):
                continue
            if layer == HARDWARE and (_is_metadata(one) or one.get("tid") not in streams):
                continue
            if _is_metadata(one) or _is_wanted(one, rank):
                yield rank.moved(one, layer)


def _is_wanted(event: Event, rank: Rank) -> bool:
    """Whether an event is of the models that are shown."""
    if rank.models is None:
        return True
    args = event.get("args", {})
    return any(whole(args[name]) in rank.models for name in _model_args() if name in args)


@per_spec
def _model_args() -> tuple[str, ...]:
    """The names of the arg that states the model of an event."""
    layers = (timeline_catalog().layers[one] for one in (HARDWARE, COMMUNICATION))
    args = (arg for layer in layers for event in layer.events for arg in event.args)
    return tuple({one.name.template: None for one in args if one.type == "modelId"})


def _layer(event: Event) -> str | None:
    """The layer whose process an event names; ``None`` for any other event."""
    if not _is_named(event, NAMES_PROCESS):
        return None
    return next((one for one in SHOWN if _title(event) in _titles()[one]), None)


@per_spec
def _titles() -> Mapping[str, frozenset[str]]:
    """What the process of a layer is called, by any exporter."""
    layers = (timeline_catalog().layers[one] for one in SHOWN)
    return {one.name: frozenset([one.name, *(other.name for other in one.names)]) for one in layers}


def _is_stream(event: Event) -> bool:
    threads = timeline_catalog().layers[HARDWARE].threads
    return any(one.name and one.name.fits(_title(event)) for one in threads)


def _is_metadata(event: Event) -> bool:
    return event.get("ph") == METADATA


def _is_named(event: Event, name: str) -> bool:
    """Whether an event states something of its process or thread."""
    return _is_metadata(event) and event.get("name") == name


def _is_of_process(event: Event) -> bool:
    return _is_metadata(event) and event.get("name") in OF_PROCESS


def _title(event: Event) -> str:
    return str(event.get("args", {}).get("name", ""))


def _on_host(rank: Rank) -> Iterator[Event]:
    """The operators that ran on the host, after their threads, by the clock of the rank."""
    folder = rank.export.folder
    form = mindspore_catalog().files[ON_HOST].name_on(mindspore_catalog().day_of(LAST_VIEWED))
    path = folder.file(form.of(device=rank.export.rank)) if form else None
    if path is None:
        return
    runs: list[Event] = []
    pid = rank.pid(HOST)
    with few(folder.damage) as damage, path.open(encoding="utf-8", errors="replace") as file:
        for place, line in enumerate(file, 1):
            parts = line.strip().split(";")
            found = [_run(text) for text in parts[-1].split()] if len(parts) > 2 else [None]
            if None in found and line.strip():
                expected = f"line {place}: expected operator;type;start,length,thread"
                damage.append(Damage(path, f"{expected}, got {line.strip()!r:.60}", kind=ON_HOST))
            for start, length, thread in filter(None, found):
                runs.append(
                    {
                        **{"name": parts[0], "pid": pid, "tid": thread, "ph": "X"},
                        **{"ts": str(start * NS), "dur": length * MS},
                        "args": {"type": parts[1]},
                    }
                )
    yield from rank.head(HOST)
    for thread in dict.fromkeys(one["tid"] for one in runs):
        named = {"name": NAMES_THREAD, "pid": pid, "tid": thread, "ph": METADATA}
        yield {**named, "args": {"name": f"thread {thread}"}}
    yield from runs


def _run(text: str) -> tuple[Decimal, float, int] | None:
    """Start in ns, length in ms and thread of an operator; ``None`` for anything else."""
    parts = text.split(",")
    if len(parts) != 3:
        return None
    start, length, thread = moment(parts[0]), number(parts[1]), whole(parts[2])
    return None if start is None or length is None or thread is None else (start, length, thread)
