"""From events to the text of a writer: order of keys, quotes, separators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import reduce
from string import Formatter
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import joined
from ascend_ref.capture.batch import Integers
from ascend_spec.core.names import NameForm
from ascend_spec.timeline import FlowId, Layer, Phase

from .events import Events, Metadata, Points, Values
from .notation import Notation, instants, lengths, wholes
from .rows import Fragment, row_texts
from .session import Session

Member: TypeAlias = "list[Fragment]"
"""A JSON value in pieces."""
DIGITS = 20
"""Of a number of 64 bits with its sign."""


class EventTexts:
    """Writes events of one session; each row begins with the separator of events."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._notation: Notation = session.notation
        self._filling = session.filling

    def metadata(self, event: Metadata) -> str:
        """One event of phase M."""
        notation, session = self._notation, self._session
        value = event.value
        shown = str(value) if isinstance(value, int) else f'"{notation.string(value)}"'
        members: dict[str, Member] = {
            "name": [f'"{event.name}"'],
            "pid": [str(session.pid(event.layer, event.device, event.unit))],
            "tid": [str(event.thread)],
            "args": self._object([([f'"{event.arg}"'], [shown])]),
        }
        return "".join(str(one) for one in self._event(event.layer, "M", members))

    def rows(self, events: Events | Points) -> Iterator[memoryview]:
        """Events of the other phases; none of a kind that the writer does not have."""
        if isinstance(events, Points):
            fragments = self._point(events)
        else:
            style = self._session.style_of(events.layer)
            if events.kind.writers and style not in events.kind.writers:
                return
            keys = events.kind.keys.get(style)
            members = self._members(events)
            fragments = self._event(events.layer, events.kind.phase, members, keys)
        yield from row_texts(fragments, len(events.start))

    def _members(self, events: Events) -> dict[str, Member]:
        kind = events.kind
        members = self._placed(events) | {"name": self._named(kind.name, events.parts)}
        if events.length is not None:
            members["dur"] = self._length(events.layer, events.length)
        if kind.cat is not None:
            members["cat"] = [f'"{kind.cat}"']
        if kind.id is not None:
            placed = {"pid": members["pid"][0], "tid": members["tid"][0]}
            members["id"] = self._named(kind.id, {**events.parts, **placed})
        args = self._args(events)
        if args:
            members["args"] = self._object(args, sparse=True)
        return members

    def _point(self, points: Points) -> Member:
        """One end of flows, as the writer of its start puts it down wherever it stands."""
        flow, session = points.flow, self._session
        home = session.spec.layers[flow.start.layer]
        style = session.style_of(home)
        form = session.flow_id(flow)
        identity = flow_ids(form, points.ids)
        quote = '"' if form.json == "string" else ""
        side = flow.end if points.ends else flow.start
        members = self._placed(points) | {
            "name": self._named(flow.name, {"id": identity}),
            "cat": [f'"{flow.cat}"'],
            "id": [quote, identity, quote],
        }
        if style in side.bp:
            members["bp"] = ['"e"']
        return self._event(home, "f" if points.ends else "s", members, side.keys.get(style))

    def _length(self, layer: Layer, length: Integers) -> Member:
        form = self._session.spec.form(self._session.style_of(layer)).parts[layer.part]
        return ['"', instants(length), '"'] if form.quoted_lengths else [lengths(length)]

    def _placed(self, events: Events | Points) -> dict[str, Member]:
        return {
            "pid": [self._pids(events)],
            "tid": [
                str(events.thread) if isinstance(events.thread, int) else wholes(events.thread)
            ],
            "ts": ['"', instants(events.start), '"'],
        }

    def _pids(self, events: Events | Points) -> Fragment:
        layer, unit = events.layer, events.unit if isinstance(events, Events) else 0
        if isinstance(events.device, int):
            return str(self._session.pid(layer, events.device, unit))
        devices, number = np.unique(events.device, return_inverse=True)
        pids = [str(self._session.pid(layer, one, unit)) for one in devices.tolist()]
        if len(pids) == 1:
            return pids[0]
        texts = pa.array(pids, pa.string())
        return pa.DictionaryArray.from_arrays(pa.array(number.astype(np.int32)), texts)

    def _args(self, events: Events) -> list[tuple[Member, Member]]:
        """Keys, with their quotes, and values, in the order of the writer."""
        found: list[tuple[Member, Member]] = []
        for arg in events.kind.args_of(self._session.style_of(events.layer)):
            form = arg.name
            if form.is_fixed or form.template in events.args:
                keys = {form.template: self._named(form, events.parts)}
            else:
                fitting = [name for name in events.args if form.fits(name)]
                keys = {name: [f'"{self._notation.string(name)}"'] for name in fitting}
            quote = '"' if "string" in arg.json else ""
            if arg.required and form.is_fixed and form.template not in events.args:
                value = self._filling.of(arg, events)
                found.append((keys[form.template], [quote, value, quote]))
            for name, key in keys.items():
                if name in events.args:
                    found.append((key, [quote, events.args[name], quote]))
        return found

    def _named(self, form: NameForm, parts: Values) -> Member:
        """The name with its quotes, from the template and its changing parts."""
        pieces: Member = ['"']
        for literal, part, _, _ in Formatter().parse(form.template):
            pieces.append(self._notation.string(literal))
            if part is not None:
                pieces.append(parts[part])
        return [*pieces, '"']

    def _object(self, members: Sequence[tuple[Member, Member]], *, sparse: bool = False) -> Member:
        """An object. sparse: a member whose value is NULL in a row is not there; the first is."""
        pieces: Member = ["{"]
        for number, (key, value) in enumerate(members):
            lead = self._notation.item if number else ""
            member = [lead, *key, self._notation.key, *value]
            pieces += _optional(member) if sparse else member
        return [*pieces, "}"]

    def _event(
        self,
        layer: Layer,
        phase: Phase,
        members: dict[str, Member],
        keys: Sequence[str] | None = None,
    ) -> Member:
        form = self._session.spec.form(self._session.style_of(layer)).parts[layer.part]
        members["ph"] = [f'"{phase}"']
        if "args" not in members and form.empty_args and phase in ("X", "i", "C"):
            members["args"] = ["{}"]
        ordered = [key for key in keys or form.keys[phase] if key in members]
        return [
            self._notation.item,
            *self._object([([f'"{key}"'], members[key]) for key in ordered]),
        ]


def _optional(member: Member) -> Member:
    """A member of an object, nothing where its one piece that may be NULL is."""
    for place, piece in enumerate(member):
        if not isinstance(piece, str) and piece.null_count:
            before, after = member[:place], member[place + 1 :]
            return [_wrapped("".join(map(str, before)), piece, "".join(map(str, after)))]
    return member


def _wrapped(before: str, texts: pa.Array, after: str) -> pa.Array:
    """Texts with constants around them; NULL stays NULL."""
    if pa.types.is_dictionary(texts.type):
        inner = _wrapped(before, texts.dictionary, after)
        return pa.DictionaryArray.from_arrays(texts.indices, inner)
    return joined(before, texts, after)


def flow_ids(form: FlowId, quantities: Mapping[str, Integers]) -> Fragment:
    """The ids of these numbers, as text without quotes. Numbers that are left out are missing.

    Ids are sums of shifted numbers, some of more than 64 bits.
    """
    rows = len(next(iter(quantities.values())))
    parts = [
        (quantities.get(part.of, np.full(rows, form.missing.get(part.of, 0))), part.shift)
        for part in form.parts
    ]
    if not rows:
        return pa.array([], pa.string())
    if form.microseconds:
        return instants(parts[0][0])
    lowest = sum(int(values.min()) << shift for values, shift in parts)
    highest = sum(int(values.max()) << shift for values, shift in parts)
    if lowest >= -(1 << 63) and highest < 1 << 63:
        return wholes(sum((values << shift for values, shift in parts), np.zeros(rows, np.int64)))
    return reduce(pc.add, (_shifted(values, shift) for values, shift in parts)).cast(pa.string())


def _shifted(values: Integers, shift: int) -> pa.Array:
    factor = Decimal(1 << shift)
    kind = pa.decimal256(len(str(factor)))
    return pc.multiply(pa.array(values).cast(pa.decimal256(DIGITS)), pa.scalar(factor, kind))
