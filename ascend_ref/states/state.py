"""Which state of which spec: a revision, a writer, an epoch, a generation, or a working copy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ascend_spec import Spec, current, load_spec

AxisName = Literal["revision", "writer", "epoch", "generation", "mindspore-generation"]

DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Axis:
    """What the states of some families are called, where they are listed, and the families."""

    called: str
    families: tuple[str, ...]


AXES: Mapping[AxisName, Axis] = {
    "revision": Axis("a revision or day of the databases", ("db",)),
    "writer": Axis("a writer of texts", ("text", "timeline", "documents")),
    "epoch": Axis("an epoch of visualize_data.bin", ("bin",)),
    "generation": Axis("a generation of the API", ("api",)),
    "mindspore-generation": Axis("a generation of MindSpore's profiler", ("mindspore",)),
}
"""By the kind of address that their states have."""


class StateError(ValueError):
    """A text means no state, or two states cannot be compared; the message says why."""


@dataclass(frozen=True, slots=True)
class State:
    """A spec at one state of one axis; without an axis at the newest of every family.

    ``name`` is what the user called it; ``at`` what the axis calls it.
    """

    spec: Spec
    name: str
    axis: AxisName | None = None
    at: str | None = None

    @property
    def schema_version(self) -> str | None:
        """The SCHEMA_VERSION that databases of the state declare; ``None`` on other axes."""
        if self.axis not in (None, "revision"):
            return None
        return (
            self.spec.db.observed[-1] if self.at is None else self.spec.db.state(self.at)
        ).schema_version


def names_of(spec: Spec, axis: AxisName) -> tuple[str, ...]:
    """The states of an axis, oldest first where they have an order."""
    named: Mapping[AxisName, Callable[[], Iterable[str]]] = {
        "revision": lambda: (one.id for one in spec.db.revisions),
        "writer": lambda: spec.text.writers,
        "epoch": lambda: spec.bin.axis.names or (),
        "generation": lambda: spec.api.axis.names or (),
        "mindspore-generation": lambda: spec.mindspore.generations,
    }
    return tuple(named[axis]())


def find_state(text: str) -> State:
    """The state that a text means: ``1.2.0-2026-07``, ``revision/1.2.0-2026-07``, ``2026-06-17``,
    ``cpp-2025``, ``cpp@2026-06-23``, ``E2``, ``upstream``, ``G3``, a draft, the folder of a working
    copy or ``FOLDER@STATE``.

    Names are those of the spec in use, over which drafts are laid. Raises :class:`StateError`, and
    ``SpecError`` for a draft or folder that cannot be used.
    """
    folder, _, state = text.rpartition("@")
    for path, at in ((text, ""), (folder, state)):
        if path and (Path(path).is_dir() or path.endswith(".yaml")):
            spec = load_spec(Path(path), current())
            return replace(_named(spec, at), name=text) if at else State(spec, text)
    return _named(current(), text)


def on_one_axis(old: State, new: State) -> tuple[State, State]:
    """Both states on the axis of either; a working copy stands at its newest state there.

    Raises :class:`StateError` for states of two axes.
    """
    if old.axis == new.axis:
        return old, new
    if old.axis is None or new.axis is None:
        axis = old.axis or new.axis
        return _newest_on(old, axis, new), _newest_on(new, axis, old)
    raise StateError(
        f"{old.name!r} is {AXES[old.axis].called}, {new.name!r} {AXES[new.axis].called}; "
        "expected two states of one axis"
    )


def _newest_on(state: State, axis: AxisName | None, other: State) -> State:
    if state.axis is not None or axis is None:
        return state
    names = names_of(state.spec, axis)
    if axis == "revision":
        return replace(state, axis=axis, at=state.spec.db.observed[-1].id)
    if axis == "writer":
        if other.at in names:
            return replace(state, axis=axis, at=other.at)
        hint = f"name one: {state.name}@WRITER"
        raise StateError(f"{state.name!r} has no writer {other.at!r}; {hint}")
    return replace(state, axis=axis, at=names[-1])


def _named(spec: Spec, text: str) -> State:
    kind, slash, rest = text.partition("/")
    wanted = [one for one in AXES if one == kind] if slash else list(AXES)
    name = rest if slash and wanted else text
    writer, _, day = name.partition("@")
    if DAY.fullmatch(day) and writer in spec.text.writers:
        return State(spec, name, "writer", name)
    for axis in wanted:
        known = {one.casefold(): one for one in names_of(spec, axis)}
        if name.casefold() in known:
            return State(spec, name, axis, known[name.casefold()])
    if "revision" in wanted:
        versions = {one.schema_version: one.id for one in spec.db.observed}
        documented = {one.schema_version: one.id for one in spec.db.revisions}
        if name in documented:
            return State(spec, name, "revision", versions.get(name, documented[name]))
        if DAY.fullmatch(name):
            return State(spec, name, "revision", name)
    raise StateError(_unknown(spec, text))


def _unknown(spec: Spec, text: str) -> str:
    from ascend_ref.cli.suggest import close_to

    known = [name for axis in AXES for name in names_of(spec, axis)]
    near = close_to(text, known)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    axes = ", ".join(one.called for one in AXES.values())
    return f"unknown state {text!r}: expected {axes}, a draft or the folder of a working copy{hint}"
