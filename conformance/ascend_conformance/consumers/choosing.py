"""Which readers, at which of their versions, are asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ascend_ref.cli.suggest import unknown
from ascend_spec import consumer_catalog
from ascend_spec.consumers import State


class NoSuchReader(Exception):
    """No reader has this name or version; the text is one clear line."""


def states(names: Iterable[str]) -> tuple[State, ...]:
    """The states of the readers of these names (``perfetto``, ``perfetto@56.1``, with ``/`` one
    part: ``msprof-analyze/hccl_sum``); of all without names.

    A version belongs to the last state that does not begin behind it. Raises
    :class:`NoSuchReader`.
    """
    wanted = list(names)
    readers = consumer_catalog().readers
    if not wanted:
        return tuple(state for reader in readers.values() for state in reader.states())
    return tuple({state.name: state for name in wanted for state in _named(name)}.values())


def _named(text: str) -> Iterator[State]:
    whole, _, part = text.partition("/")
    name, _, version = whole.partition("@")
    readers = consumer_catalog().readers
    if name not in readers:
        raise NoSuchReader(unknown("reader", name, readers))
    if part and part not in readers[name].parts:
        raise NoSuchReader(unknown(f"part of {name}", part, readers[name].parts))
    found = [replace(state, only=part or None) for state in readers[name].states()]
    yield from found if not version else [_of_version(found, version)]


def _of_version(every: list[State], version: str) -> State:
    begun = [state for state in every if _key(state.version.version) <= _key(version)]
    same = [state for state in every if state.version.version == version]
    if not same and (not re.match("[0-9]+[.]", version) or not begun):
        name = every[0].reader.name
        known = ", ".join(state.version.words for state in every)
        raise NoSuchReader(f"{name} has no version {version!r}; known: {known}")
    return (same or begun)[-1]


def _key(version: str) -> list[int]:
    return [int(number) for number in re.findall("[0-9]+", version)]
