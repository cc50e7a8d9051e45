"""Whether a capture states that a switch was on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ascend_ref.db.display import clip
from ascend_ref.raw.context import Context
from ascend_ref.raw.framework.information import INFORMATION, read_information
from ascend_spec import catalog
from ascend_spec.core import Switch

_SAMPLE, _OPTIONS = "sample.json", INFORMATION
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Switched:
    """A switch; ``on``: ``None`` where no file states it. ``stated``: where, and with what."""

    id: str
    spelled: tuple[str, ...]
    on: bool | None
    stated: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Source:
    """A file that states switches: what the spec calls it, what messages do, and what it holds."""

    called: str
    name: str
    document: Mapping[str, Any]


class Switches:
    """The switches of one capture, as its files state them."""

    def __init__(self, contexts: Sequence[Context]) -> None:
        self._sources = [*_samples(contexts), *_options(contexts)]

    def state(self, name: str) -> Switched:
        """One switch by its id; it is on where one file says so."""
        switch = catalog().documents.switches[name]
        found = [one for source in self._sources for one in _stated(switch, source)]
        on = None if not found else any(answer for answer, _ in found)
        texts = tuple(dict.fromkeys(text for answer, text in found if answer == on))
        return Switched(name, switch.spelled, on, texts)


def _samples(contexts: Sequence[Context]) -> Iterator[_Source]:
    for one in contexts:
        document = one.side.documents.get("sample") if one.folder.side != "framework" else None
        if document is not None:
            yield _Source(_SAMPLE, f"{_SAMPLE} of {one.folder.name}", document)


def _options(contexts: Sequence[Context]) -> Iterator[_Source]:
    """The options of the framework's profiler, next to ``PROF_*``."""
    places = {above: None for one in contexts for above in one.folder.path.parents[:2]}
    for place in places:
        found = read_information(place, [])  # its reader states damage
        if found.path is not None:
            yield _Source(_OPTIONS, found.path.name, found.document)


def _stated(switch: Switch, source: _Source) -> Iterator[tuple[bool, str]]:
    """Whether a file says that the switch is on, and with what; nothing where it does not say."""
    keys = switch.stated.get(source.called, {})
    values = [(key, wanted, _value(source.document, key)) for key, wanted in keys.items()]
    off = [one for one in values if one[2] is not None and not _is(one[2], one[1])]
    if off or (values and all(value is not None for *_, value in values)):
        shown = [
            f"{key.rpartition('/')[2]} is {clip(json.dumps(value, ensure_ascii=True), _LONGEST)}"
            for key, _, value in off or values
        ]
        yield not off, f"{source.name}: {', '.join(shown)}"


def _value(document: Any, key: str) -> Any:
    for part in key.split("/"):
        document = document.get(part) if isinstance(document, dict) else None
    return document


def _is(value: Any, wanted: str | bool) -> bool:
    if isinstance(value, list):
        return wanted in value
    if isinstance(value, str) and isinstance(wanted, str):
        return wanted in value.split(",")
    return bool(value == wanted)
