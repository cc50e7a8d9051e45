"""The side files of a folder: the machine, the switches, the clocks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import jsonschema_rs

from ascend_spec import per_spec, raw_catalog
from ascend_spec.core.packed import ClockName
from ascend_spec.raw import RawFile

from . import clocks
from .clocks import Clock
from .damage import Damage, few
from .json_text import load_json
from .lines import read_lines
from .tree import RawFolder

LARGEST = 1 << 24
"""Bytes of a side file; real ones have some thousand."""

_INFO, _SAMPLE, _START = "info", "sample", "start_info"
_HOST_START, _DEVICE_START = "host_start", "dev_start"

_COUNT = re.compile(r"[0-9]{1,20}")
"""A number of 64 bits at most; no int is made of longer ones, which takes its time or fails."""

_FREQUENCY = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,20})?")
"""Without an exponent: a billion would make a number of as many digits."""

_FASTEST = 10**6
"""MHz that no counter has."""


class Unknown(ValueError):
    """A clock cannot be known; the text states what is missing."""


@dataclass(frozen=True)
class SideFiles:
    """What the side files of one folder hold: JSON by schema, logs by grammar."""

    unix: ClassVar[Clock] = clocks.UNIX

    folder: RawFolder
    documents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    logs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @cached_property
    def chip(self) -> int | None:
        """Number of the chip; ``None`` where it is not stated."""
        version = str(self.documents.get(_INFO, {}).get("platform_version", ""))
        chip = int(version) if _COUNT.fullmatch(version) else None
        return chip if chip in raw_catalog().chips else None

    @cached_property
    def settings(self) -> Mapping[str, str]:
        """Texts of the side files by ``file/key``, as members of files ask for them."""
        names = {_INFO: "info.json", _SAMPLE: "sample.json"}
        return {
            f"{name}/{key}": value
            for document, name in names.items()
            for key, value in self.documents.get(document, {}).items()
            if isinstance(value, str)
        }

    def by_name(self, name: ClockName) -> Clock:
        """The clock that the spec calls so. Raises :class:`Unknown`."""
        clock: Clock = getattr(self, clocks.CLOCKS[name])
        return clock

    @cached_property
    def base(self) -> int:
        """Unix time at which the host's monotonic clock was 0, in ns. Raises :class:`Unknown`."""
        begin = self._time(_START, "collectionTimeBegin")
        return begin * 1000 - self._time(_START, "clockMonotonicRaw")

    @cached_property
    def host(self) -> Clock:
        """The host's counter, by which npu_module_mem of a device counts as well.

        Raises :class:`Unknown`.
        """
        frequency = self._host_frequency
        if frequency == clocks.DEFAULT_FREQUENCY:
            return clocks.monotonic_clock(self.base)
        log = self._log(_HOST_START)
        return clocks.host_clock(
            self.base,
            frequency,
            self._number(log, _HOST_START, "clock_monotonic_raw"),
            self._number(log, _HOST_START, "cntvct"),
            self._difference(log),
        )

    @cached_property
    def monotonic(self) -> Clock:
        """The host's monotonic clock. Raises :class:`Unknown`."""
        return clocks.monotonic_clock(self.base)

    @cached_property
    def device(self) -> Clock:
        """The device's counter. Raises :class:`Unknown`."""
        counter = self._number(self._log(_DEVICE_START), _DEVICE_START, "cntvct")
        return clocks.device_clock(self.base, self._device_frequency, self._paired, counter)

    @cached_property
    def sampling(self) -> Clock:
        """The device's monotonic clock. Raises :class:`Unknown`."""
        log = self._log(_DEVICE_START)
        own = self._number(log, _DEVICE_START, "clock_monotonic_raw")
        return clocks.sampling_clock(self.base, self._paired, own)

    @cached_property
    def since_start(self) -> Clock:
        """Microseconds since the device started. Raises :class:`Unknown`."""
        return clocks.since_start(self.base, self._paired)

    @cached_property
    def _paired(self) -> Fraction:
        """The host's monotonic clock when the device's clocks were read."""
        log = self._log(_HOST_START)
        difference = self._difference(log)
        step = Fraction(1000) / self._host_frequency if difference else Fraction(0)
        return self._number(log, _HOST_START, "clock_monotonic_raw") + difference * step

    @cached_property
    def _host_frequency(self) -> Fraction:
        processor = self._first("CPU")
        if processor is None:
            raise Unknown(
                f"the host's frequency is not known: no CPU in info.json of {self._where}"
            )
        text = processor.get("Frequency")
        frequency = clocks.DEFAULT_FREQUENCY if text == "" else frequency_of(text)
        if frequency is None:
            raise Unknown(
                f"the host's frequency is not known: no Frequency of its CPU in info.json of "
                f"{self._where}"
            )
        return frequency

    @cached_property
    def _device_frequency(self) -> Fraction:
        device = self._first("DeviceInfo")
        frequency = None if device is None else frequency_of(device.get("hwts_frequency"))
        if not frequency:
            raise Unknown(
                f"the device's frequency is not known: no hwts_frequency in info.json of "
                f"{self._where}"
            )
        return frequency

    @property
    def _where(self) -> str:
        return self.folder.name

    def _first(self, key: str) -> Mapping[str, Any] | None:
        """The first object of a list of info.json; ``None`` where there is none."""
        found = self.documents.get(_INFO, {}).get(key)
        first = found[0] if isinstance(found, list) and found else None
        return first if isinstance(first, dict) else None

    def _time(self, document: str, key: str) -> int:
        value = self.documents.get(document, {}).get(key)
        if not isinstance(value, str) or not _COUNT.fullmatch(value):
            raise Unknown(f"no {key} in {document} of {self._where}")
        return self._checked(int(value), f"{key} in {document}")

    def _log(self, name: str) -> Mapping[str, str]:
        if name not in self.logs:
            raise Unknown(f"{name}.log of {self._where} is missing")
        return self.logs[name]

    def _number(self, log: Mapping[str, str], name: str, key: str) -> int:
        if key not in log:
            raise Unknown(f"no {key} in {name}.log of {self._where}")
        return self._checked(int(log[key]), f"{key} in {name}.log")

    def _difference(self, log: Mapping[str, str]) -> int:
        return self._checked(int(log.get("cntvct_diff", 0)), f"cntvct_diff in {_HOST_START}.log")

    def _checked(self, number: int, what: str) -> int:
        if number >= clocks.LIMIT:
            raise Unknown(f"{what} of {self._where} is {number}, which no clock shows")
        return number


def frequency_of(value: object) -> Fraction | None:
    """The frequency in MHz that a side file states; ``None`` for what is none of a counter."""
    text = str(value).strip()
    found = Fraction(text) if _FREQUENCY.fullmatch(text) else Fraction(0)
    return found if 0 < found < _FASTEST else None


def read_side_files(
    folder: RawFolder, damage: list[Damage], counts: dict[str, int] | None = None
) -> SideFiles:
    """The side files of a folder. What is missing, doubled or not as it must be is damage.

    counts: takes the number of documents, or of parts of logs, that were read of each kind.
    """
    documents: dict[str, Mapping[str, Any]] = {}
    logs: dict[str, Mapping[str, str]] = {}
    for kind in raw_catalog().files.values():
        if kind.side != folder.side or kind.folder != "side":
            continue
        found = folder.files.get(kind.file, ())
        if not found:
            if kind.required:
                name = kind.name.template.replace("{device}", str(folder.device))
                damage.append(Damage(folder.path, f"{name} is missing"))
            continue
        if len(found) > 1:
            names = ", ".join(one.path.name for one in found)
            damage.append(Damage(folder.path, f"one file is expected of {names}"))
        path = found[0].path
        read = 0
        if kind.document is not None:
            document = _read_document(path, kind.document, damage)
            if document is not None:
                documents[kind.document] = document
                read = 1
        elif kind.grammar is not None:
            log = logs[_log_name(kind)] = _read_log(path, kind.grammar, damage)
            read = len(log)
        if counts is not None:
            counts[kind.file] = read
    return SideFiles(folder, documents, logs)


def _log_name(kind: RawFile) -> str:
    """Both copies of the host's log are one kind of log."""
    return kind.grammar or kind.file


def _read_document(path: Path, schema: str, damage: list[Damage]) -> Mapping[str, Any] | None:
    document = read_json(path, damage)
    if document is NO_JSON:
        return None
    for problem in _validator(schema).iter_errors(document):
        place = "/".join(map(str, problem.instance_path)) or "the document"
        damage.append(Damage(path, f"{place}: {problem.message}"))
    return document if isinstance(document, dict) else None


NO_JSON = object()
"""What stands for a file that holds no JSON."""


def read_json(path: Path, damage: list[Damage]) -> Any:
    """What a JSON file holds; :data:`NO_JSON`, and damage, where it cannot be read."""
    content = read_small(path, damage)
    if content is None:
        return NO_JSON
    try:
        return load_json(content)
    except (ValueError, RecursionError) as error:
        damage.append(Damage(path, f"no JSON: {error}"))
    return NO_JSON


def read_small(path: Path, damage: list[Damage]) -> bytes | None:
    """The bytes of a side file; ``None``, and damage, for one that is too long or unreadable."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        damage.append(Damage(path, error.strerror or str(error)))
        return None
    if len(content) > LARGEST:
        damage.append(Damage(path, f"more than {LARGEST:,} bytes; expected some thousand"))
        return None
    return content


@per_spec
def _validator(schema: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(raw_catalog().document_schema(schema))


def _read_log(path: Path, grammar: str, damage: list[Damage]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    with few(damage) as stated:
        for _, parts in read_lines(path, raw_catalog().grammars[grammar], stated):
            found.update(parts)
    return found
