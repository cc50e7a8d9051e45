"""How an event of one writer becomes one of another, found once for all events alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ascend_ref.timeline.layers.host import CANN, level_of_communication
from ascend_ref.timeline.recognition import FLOWS
from ascend_spec import timeline_catalog
from ascend_spec.timeline import EventKind, FlowKind, Layer, Phase

from .kinds import Step, counterpart, name_of, steps_of
from .processes import Threads
from .style import Style

MOST_NAMES = 100_000
"""Names of events whose ways are kept in mind."""
BOUND = "bp"
WITH_ARGS = ("X", "i", "C")
"""Phases whose args some writers leave away where there are none."""

Keys = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """What is done to an event. ``place``: what it is. ``lost``: why it goes.

    ``name``: its name then, where that changes, and ``nameless`` the parts of it that nothing is
    known of. ``steps``: its args, empty where they stay. ``order``: of its keys, where that
    changes. ``decimals``: whether its time gets some. ``empty``: whether an event without args gets
    an empty object, or loses it. ``bound``: whether the point of an arrow gets a bp, or loses it.
    ``gone``: args that it does not have then.
    """

    place: str
    lost: str = ""
    name: str | None = None
    nameless: Keys = ()
    steps: tuple[Step, ...] = ()
    order: Keys = ()
    decimals: bool = False
    empty: bool | None = None
    bound: bool | None = None
    gone: Keys = ()


class Lane:
    """The process of a layer by two writers: how its pid is made, and its threads."""

    def __init__(self, layer: Layer, old: Style, new: Style) -> None:
        self.layer, self._old, self._new = layer, old, new
        self.threads = Threads(layer, old, new)
        rules = [one.pid_rule(layer).rule for one in (old, new)]
        self.rules = f"{rules[1]}, {rules[0]} before"
        self._parts = [one.part(layer) for one in (old, new)]
        levels = [level_of_communication(one.engine) for one in (old, new)]
        self._levels = levels if levels[0] != levels[1] else None
        self._ways: dict[tuple[str, str, str | None, Keys], Way] = {}

    def way(self, phase: str, name: str, cat: str | None, keys: Keys) -> Way:
        """The way of an event. ``keys``: of its args."""
        key = (phase, name, cat, keys)
        found = self._ways.get(key)
        if found is None:
            if len(self._ways) >= MOST_NAMES:
                self._ways.clear()
            found = self._ways[key] = self._find(phase, name, cat, keys)
        return found

    def metadata(self) -> Way:
        """The way of a metadata event but for what it says."""
        return self.way("M", "", None, ())

    def _find(self, phase: str, name: str, cat: str | None, keys: Keys) -> Way:
        kind = self._kind(phase, name, cat, keys)
        if kind is None:
            flow = self._flow(cat) if phase in FLOWS else None
            if flow is not None:
                return self._of_flow(flow, phase)
            order = self._changed(phase, (), ())
            return Way(f"{self.layer.name}/{phase}", order=order, empty=self._empty(phase))
        place = f"{self.layer.name}/{kind.kind}"
        new = counterpart(kind, self._new, self.layer)
        if new is None:
            return Way(place, lost=f"no event of {self._new.writer}")
        whose = timeline_catalog().layers[kind.layer]
        old_style, new_style = self._old.of(whose), self._new.of(whose)
        steps = steps_of(kind, new, keys, old_style, new_style)
        steps = self._with_level(kind, steps)
        named = self._named(kind, new, name)
        return Way(
            place,
            name=None if named == name else named,
            nameless=tuple(sorted(new.name.fields.keys() - kind.name.fields.keys())),
            steps=() if all(_stays(one) for one in steps) else steps,
            order=self._changed(phase, kind.keys.get(old_style, ()), new.keys.get(new_style, ())),
            decimals=old_style in kind.bare_ts and new_style not in new.bare_ts,
            empty=self._empty(phase),
            gone=tuple(one.source for one in steps if one.source and one.target is None),
        )

    def _kind(self, phase: str, name: str, cat: str | None, keys: Keys) -> EventKind | None:
        fitting = [
            kind
            for one in self._old.shown(self.layer)
            for kind in one.events_of(self._old.of(one))
            if kind.phase == phase and kind.fits(name, cat, keys, self._old.of(one))
        ]
        names = {kind.kind for kind in fitting}
        return next((one for one in fitting if not names.intersection(one.yields_to)), None)

    def _named(self, kind: EventKind, new: EventKind, name: str) -> str:
        """The name of an event, with the level of communication as the new writer calls it."""
        named = name_of(kind, new, name)
        if self._levels and kind.layer == CANN:
            level, mark, call = named.partition("@")
            if mark and level == self._levels[0][0]:
                return f"{self._levels[1][0]}@{call}"
        return named

    def _with_level(self, kind: EventKind, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        if not self._levels or kind.layer != CANN:
            return steps
        before, after = (f'"{one[1]}"'.encode() for one in self._levels)
        return tuple(
            one._replace(words={before: after}) if one.source == "level" else one for one in steps
        )

    def _changed(self, phase: str, before: Keys, after: Keys) -> Keys:
        """The order of keys by the new writer, if it is another one. ``before``, ``after``: those
        of a kind alone.
        """
        stated = [{str(key): keys for key, keys in part.keys.items()} for part in self._parts]
        orders = [
            own or keys.get(phase, ()) for own, keys in zip((before, after), stated, strict=True)
        ]
        return orders[1] if orders[0] != orders[1] else ()

    def _empty(self, phase: str) -> bool | None:
        before, after = (one.empty_args for one in self._parts)
        return after if phase in WITH_ARGS and before != after else None

    def _flow(self, cat: str | None) -> FlowKind | None:
        """An arrow of the old writer with a category."""
        return next((one for one in _flows(cat) if self._old.has_flow(one)), None)

    def _of_flow(self, flow: FlowKind, phase: str) -> Way:
        other = next((one for one in _flows(flow.cat) if self._new.has_flow(one)), None)
        if other is None:
            return Way(flow.cat, lost=f"no arrow of {self._new.writer}")
        key: Phase = "f" if phase == "f" else "s"
        bound, orders = [], []
        for style, one in ((self._old, flow), (self._new, other)):
            end, whose = one.end if phase == "f" else one.start, style.of_flow(one)
            # Both ends are written by whom the start is, wherever they stand.
            part = style.part(timeline_catalog().layers[one.start.layer])
            bound.append(whose in end.bp)
            orders.append(end.keys.get(whose, part.keys.get(key, ())))
        return Way(
            flow.cat,
            order=orders[1] if orders[0] != orders[1] else (),
            bound=bound[1] if bound[0] != bound[1] else None,
        )


def _flows(cat: str | None) -> Sequence[FlowKind]:
    return [one for one in timeline_catalog().flows.values() if one.cat == cat]


def _stays(step: Step) -> bool:
    return step.source == step.target and not step.words
