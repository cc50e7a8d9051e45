"""What the documents of this folder say, as immutable objects: facts, and look-up in them.

A *writer* is the id of a generation of an exporter (``ascend_spec.text``). Where ``writers`` is
empty, a fact holds for every writer of what it belongs to. The adapter writes the layers of msprof
as it found them: ask :meth:`TimelineCatalog.engines` whose they are, and then for that engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ascend_spec.core import Alteration, Grade
from ascend_spec.core.bounds import allows
from ascend_spec.core.names import NameForm
from ascend_spec.core.shows import RowTest, Show

Phase = Literal["M", "X", "i", "C", "s", "t", "f"]
Side = Literal["host", "device", "dpu"]
Part = Literal["msprof", "framework"]
JsonType = Literal["string", "integer", "number", "object", "null"]


@dataclass(frozen=True, slots=True)
class Arg:
    """A member of the ``args`` of an event, with the facts of its value type already merged in.

    ``json``: JSON types of the value. ``none``: values that mean "no value", outside type and
    range. ``values`` closes the set of texts. ``many``: several members of this form follow each
    other. ``shows``: what of the recording it shows. ``changed``: how it was otherwise for a time.
    """

    name: NameForm
    type: str
    shows: Show
    json: tuple[JsonType, ...]
    summary: str
    grade: Grade
    source: tuple[str, ...]
    unit: str | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    pattern: str | None = None
    values: tuple[str, ...] = ()
    none: tuple[int | str, ...] = ()
    required: bool = True
    many: bool = False
    writers: tuple[str, ...] = ()
    documented_as: tuple[str, ...] = ()
    changed: tuple[Alteration, ...] = ()
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EventKind:
    """One kind of event of a layer.

    ``name`` and ``cat`` are those of the event, ``id`` the form of its flow id where it is a point
    of a flow by itself. ``thread``: the thread it stands on. ``keys``: order of the keys, by
    writer, where it is not the usual one. ``unordered``: writers that give the args in no fixed
    order. ``bare_ts``: writers whose last event has a ts without decimals. ``yields_to``: kinds
    that an event belongs to rather than to this one if it fits them as well. ``levels``: profiler
    levels at which every writer of it shows it. ``tables``: database tables that show the same.
    ``when``: what else it takes. ``shows``: what its keys and the parts of names show of the
    recording (:func:`ascend_spec.core.shows.event_shows`), ``rows`` which events show an entity,
    ``fixed`` what all of them show by their kind.
    """

    kind: str
    layer: str
    phase: Phase
    name: NameForm
    summary: str
    grade: Grade
    source: tuple[str, ...]
    cat: str | None = None
    id: NameForm | None = None
    args: tuple[Arg, ...] = ()
    thread: str | None = None
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unordered: tuple[str, ...] = ()
    bare_ts: tuple[str, ...] = ()
    yields_to: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    levels: tuple[int, ...] = (0, 1, 2)
    writers: tuple[str, ...] = ()
    documented_as: tuple[str, ...] = ()
    when: str | None = None
    shows: Mapping[str, Show] = field(default_factory=dict)
    rows: Mapping[str, RowTest] = field(default_factory=dict)
    fixed: Mapping[str, str | int] = field(default_factory=dict)
    errata: tuple[str, ...] = ()

    def args_of(self, writer: str) -> tuple[Arg, ...]:
        """The args that a writer gives the event, in order; empty: none at all."""
        return tuple(one for one in self.args if allows(one.writers, writer))

    def fits(self, name: str, cat: str | None, keys: Sequence[str], writer: str) -> bool:
        """Whether an event of this phase with the given keys of args can be of this kind."""
        return (
            allows(self.writers, writer)
            and self.cat == cat
            and self.name.fits(name)
            and self.matched(keys, writer) is not None
        )

    def matched(self, keys: Sequence[str], writer: str) -> tuple[Arg, ...] | None:
        """For each key of the args the arg it is; ``None`` where they are not those of a writer."""
        args = self.args_of(writer)
        if writer in self.unordered:
            found = tuple(next((a for a in args if a.name.fits(key)), None) for key in keys)
            known = tuple(arg for arg in found if arg is not None)
            lost = any(arg.required and arg not in known for arg in args)
            once = len({arg.name.template for arg in known if not arg.many})
            doubled = once < sum(not arg.many for arg in known)
            return None if len(known) < len(found) or lost or doubled else known
        return _in_order(args, keys)


def _in_order(args: Iterable[Arg], keys: Sequence[str]) -> tuple[Arg, ...] | None:
    found: list[Arg] = []
    at = 0
    for arg in args:
        first = at
        while at < len(keys) and (arg.many or at == first) and arg.name.fits(keys[at]):
            found.append(arg)
            at += 1
        if arg.required and at == first:
            return None
    return tuple(found) if at == len(keys) else None


@dataclass(frozen=True, slots=True)
class Thread:
    """A kind of thread of a layer: the form of its name, and of what numbers its ``tid`` is made.

    A number is a quantity (``streamId``) or itself; they are added. ``sort_index`` likewise,
    ``None`` where no thread_sort_index is written. ``name`` is ``None`` where no thread_name is.
    ``files``: the only files in which the thread has this name.
    """

    thread: str
    name: NameForm | None
    tid: tuple[int | str, ...]
    summary: str
    sort_index: tuple[int | str, ...] | None = None
    writers: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    documented_as: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OtherName:
    """Another name that a layer has in the files of some writers."""

    name: str
    writers: tuple[str, ...]
    erratum: str | None = None


@dataclass(frozen=True, slots=True)
class Layer:
    """One process of the timeline, by its newest process_name.

    ``names``: other names, by writer. ``form``: the process_name where it changes from file to
    file. ``sort_index``: by writer, ``None`` where the writer numbers the layers as they come.
    ``pids``: the rule of the pid, by writer, where it is not that of the writer. ``part``: who
    makes the events. ``shown_in``: the layer as whose part it appears in a whole timeline.
    ``files``: the files that hold it. ``tables``: database tables that show the same.
    """

    name: str
    slug: str
    summary: str
    part: Part
    side: Side
    grade: Grade
    source: tuple[str, ...]
    files: tuple[str, ...]
    writers: tuple[str, ...]
    sort_index: Mapping[str, int | None]
    events: tuple[EventKind, ...]
    threads: tuple[Thread, ...] = ()
    form: NameForm | None = None
    names: tuple[OtherName, ...] = ()
    pids: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    data: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    levels: tuple[int, ...] = (0, 1, 2)
    switches: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    shown_in: str | None = None
    note: str | None = None
    errata: tuple[str, ...] = ()

    def process_name(self, writer: str) -> str:
        """The text of process_name, or its form in braces where it changes."""
        if self.form is not None:
            return self.form.template
        return next((one.name for one in self.names if writer in one.writers), self.name)

    def threads_of(self, writer: str) -> tuple[Thread, ...]:
        """The kinds of threads that a writer names."""
        return tuple(one for one in self.threads if allows(one.writers, writer))

    def events_of(self, writer: str) -> tuple[EventKind, ...]:
        """The kinds of events that a writer writes."""
        return tuple(one for one in self.events if allows(one.writers, writer))

    def event(self, kind: str) -> EventKind:
        """One kind of event by its id; ``KeyError`` for an unknown one."""
        return {one.kind: one for one in self.events}[kind]


@dataclass(frozen=True, slots=True)
class PidPart:
    """One quantity of a pid, the factor it has there, and the width it should not exceed."""

    of: str
    times: int
    bits: int | None = None


@dataclass(frozen=True, slots=True)
class PidRule:
    """How the pid of a layer is made of numbers."""

    rule: str
    summary: str
    join: Literal["or", "sum"]
    parts: tuple[PidPart, ...]
    grade: Grade
    source: tuple[str, ...]
    bits: int | None = None
    host_device: int | None = None
    errata: tuple[str, ...] = ()

    def pid(self, **quantities: int) -> int:
        """The pid of these numbers; bits beyond the width of the result are lost.

        ``deviceId`` may be left out for a layer of the host.
        """
        if self.host_device is not None:
            quantities = {"deviceId": self.host_device, **quantities}
        total = 0
        for part in self.parts:
            value = quantities[part.of] * part.times
            total = total | value if self.join == "or" else total + value
        return total if self.bits is None else total & ((1 << self.bits) - 1)

    def quantities(self, pid: int) -> Mapping[str, int]:
        """The numbers that a pid is made of; empty where their widths are not known."""
        if any(part.bits is None for part in self.parts):
            return {}
        return {
            part.of: pid // part.times & ((1 << part.bits) - 1)
            for part in self.parts
            if part.bits is not None
        }


@dataclass(frozen=True, slots=True)
class PartForm:
    """How the events of one part are written: order of keys by phase, and whether an event without
    args has an empty object in their place. ``quoted_lengths``: lengths are texts with three
    decimals, as times are.
    """

    keys: Mapping[Phase, tuple[str, ...]]
    empty_args: bool
    quoted_lengths: bool = False


@dataclass(frozen=True, slots=True)
class WriterForm:
    """How a writer writes a timeline.

    ``first_free``: the first number of layers that have none of their own. ``pruned``: texts; at
    level 0 events of msprof are left out if their name begins with one or ``args.name`` is one.
    ``types``: JSON types of the keys of an event.
    """

    writer: str
    summary: str
    engines: tuple[str, ...]
    item_separator: str
    key_separator: str
    escapes_unicode: bool
    pid: str
    labels: Mapping[Side, NameForm]
    types: Mapping[str, tuple[JsonType, ...]]
    parts: Mapping[Part, PartForm]
    grade: Grade
    source: tuple[str, ...]
    first_free: int | None = None
    pruned: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FlowIdPart:
    """One quantity of a flow id and the number of bits it is shifted by."""

    of: str
    shift: int = 0


@dataclass(frozen=True, slots=True)
class FlowId:
    """How the id of a flow is made: a sum of shifted quantities. ``json``: type of the number.

    ``missing`` is what a quantity counts as where there is none. ``microseconds``: it is an instant
    in ns, written as us with three decimals.
    """

    writers: tuple[str, ...]
    json: JsonType
    parts: tuple[FlowIdPart, ...]
    microseconds: bool = False
    missing: Mapping[str, int] = field(default_factory=dict)
    erratum: str | None = None

    def value(self, **quantities: int) -> int:
        """The id of these numbers."""
        return sum(
            (quantities.get(part.of, self.missing.get(part.of, 0))) << part.shift
            for part in self.parts
        )


@dataclass(frozen=True, slots=True)
class FlowEnd:
    """One end of a flow: by layer the kinds of events it stands on, and when it is written.

    ``on_slice`` is false where the instant need not lie in an event. ``bp``: writers that give this
    end a binding point. ``keys``: order of the keys, by writer, where it is not the usual one.
    """

    at: Mapping[str, tuple[str, ...]]
    when: str
    on_slice: bool = True
    bp: tuple[str, ...] = ()
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def layer(self) -> str:
        """The layer, or the first of several."""
        return next(iter(self.at))


@dataclass(frozen=True, slots=True)
class FlowKind:
    """An arrow of the timeline. ``name``: form of the events' name, where ``id`` is the flow id.

    ``part``: who writes its points. ``many_ends``: one start may have several ends.
    """

    flow: str
    part: Part
    cat: str
    name: NameForm
    summary: str
    start: FlowEnd
    end: FlowEnd
    ids: tuple[FlowId, ...]
    grade: Grade
    source: tuple[str, ...]
    many_ends: bool = False
    errata: tuple[str, ...] = ()

    def id_of(self, writer: str) -> FlowId | None:
        """How a writer makes the id; ``None`` where it has no such flow."""
        return next((one for one in self.ids if writer in one.writers), None)


@dataclass(frozen=True, slots=True)
class EventKey:
    """A key of an event. ``shown_as``: what viewers and documents call it."""

    key: str
    summary: str
    unit: str | None = None
    shown_as: tuple[str, ...] = ()
    required: tuple[Phase, ...] = ()
    optional: tuple[Phase, ...] = ()
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MetadataEvent:
    """An event of phase M: its name, the one member of its args, and what that member states."""

    name: str
    arg: str
    json: tuple[JsonType, ...]
    of: Literal["process", "thread"]
    summary: str


@dataclass(frozen=True, slots=True)
class TimelineFile:
    """A kind of file that holds a timeline, and the layers in it (empty: all)."""

    file: str
    summary: str
    output: Literal["msprof", "pytorch"]
    name: NameForm
    writers: tuple[str, ...]
    grade: Grade
    source: tuple[str, ...]
    sliced: NameForm | None = None
    errata: tuple[str, ...] = ()
