"""The options that are in effect, each with where it comes from, and what is wrong with them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ascend_ref.cli.suggest import close_to
from ascend_ref.db.display import clip
from ascend_ref.json_damage import find_damage, wide_text
from ascend_ref.json_keys import ObjectReader
from ascend_spec import catalog, ge_catalog
from ascend_spec.ge import Option

from .given import WORK_PATH, Decision, Source

GE_ERROR = "E10001"
UNKNOWN, UNSUPPORTED, UNUSABLE = "EK0001", "EK0005", "EK0003"
TRACE, POINTS = "training_trace", ("fp_point", "bp_point")
LEVELS: Mapping[str, int] = {"on": 1, "l0": 0, "l1": 1, "l2": 2, "l3": 3, "": 0}
"""The level of each value of task_time; an empty text has times without a level."""

DATA_FOLDER = "profiling_data"
"""Below ASCEND_WORK_PATH, where the options name no output (ge-profiling 1.3)."""
_SHOWN = 60
_CUSTOM = "Custom:"
_EVENT = re.compile(r"0x[0-9a-f]+|[0-9]+")
_STORAGE = re.compile(r"([0-9]{1,10})MB")
_LEAST_STORAGE, _MOST_STORAGE = 200, 4_294_967_295
_BAD_PATH = re.compile(r"[\n\f\r\b\t\v\x7f\"'\\%><|&$;`]")


@dataclass(frozen=True, slots=True)
class Setting:
    """An option in effect; ``value`` is ``None`` for nothing. ``given``: what stands in the text
    where that is another value."""

    option: str
    value: str | int | None
    source: Source
    given: str | int | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """Why the options are refused: the code of the error, the option, and a sentence."""

    code: str
    option: str
    message: str

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


@dataclass(frozen=True, slots=True)
class Settings:
    """Options in effect, or problems for which they are refused.

    ``options``: every option, in the order of the spec. ``level``: of task_time, ``None`` where it
    is off. ``switches``: collection switches that are on, by the option that turns them on, empty
    for those that always are.
    """

    product: str
    options: Mapping[str, Setting]
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def level(self) -> int | None:
        """The level of task_time; ``None`` where it is off."""
        value = self.options["task_time"].value
        return LEVELS.get(str(value))

    @property
    def switches(self) -> Mapping[str, tuple[str, ...]]:
        """The switches that are on, each with the options that turn it on."""
        found: dict[str, tuple[str, ...]] = dict.fromkeys(ge_catalog().entry.always.switches, ())
        for name, option in ge_catalog().options.items():
            value = self.options[name].value
            for switch in option.switches(value) if value is not None else ():
                found[switch] = (*found.get(switch, ()), name)
        return found

    @property
    def mask(self) -> int:
        """profSwitch as the collector starts the graph engine with it."""
        bits = ge_catalog().switch_bits
        found = 0
        for bit in bits.values():
            values = {name: self.options[name].value for name in bit.set_by}
            is_set = not values or any(values[name] in on for name, on in bit.set_by.items())
            if is_set and (bit.set_with is None or found & bits[bit.set_with].mask):
                found |= bit.mask
        return found


def settings_of(decision: Decision, product: str) -> Settings:
    """What is in effect on a product where the profiling is on.

    The checks are those of the graph engine and then those of the collector; both stop at the first
    problem, and here all are found. Raises ``KeyError`` for an unknown product.
    """
    chips = catalog().products[product].platforms
    source = decision.source or "default"
    found, problems = _read(decision)
    warnings = list(decision.warnings)
    if not problems:
        problems = [*_checked_by_engine(decision.text, found)]
        wrong = {one.option for one in problems}
        for name, value in found.items():
            if name not in wrong:
                problems += _checked_by_collector(name, value, found, chips, warnings)
    effective = {
        name: _setting(option, found, source, warnings)
        for name, option in ge_catalog().options.items()
    }
    if not effective["output"].value and decision.work_path:
        path = f"{decision.work_path.rstrip('/')}/{DATA_FOLDER}"
        effective["output"] = Setting("output", path, "environment")
    elif not effective["output"].value and decision.work_path is not None and not problems:
        message = f"output is missing, and {WORK_PATH} is not set; expected one of them"
        problems.append(Problem(GE_ERROR, "output", message))
    if not problems:
        warnings += _warnings(effective, product, chips)
    return Settings(product, effective, tuple(problems), tuple(warnings))


def _read(decision: Decision) -> tuple[dict[str, Any], list[Problem]]:
    """The object of the text, or what is wrong with it."""
    text, longest = decision.text, ge_catalog().entry.longest
    name = ge_catalog().entry.options.key
    cut = ""
    if decision.bytes_given > longest:
        cut = f"; of its {decision.bytes_given:,} bytes the graph engine keeps the first {longest:,}"
    damage = wide_text(text) or find_damage(text)
    if damage is not None:
        reason = damage.reason.replace("the file", "the text")
        message = f"{name}: byte {damage.offset}: {reason}{cut}; expected an object in JSON"
        return {}, [Problem(GE_ERROR, "", message)]
    reader = ObjectReader()
    found = json.loads(text, object_pairs_hook=reader)
    if not isinstance(found, dict):
        message = f"{name}: is {_json(found)}{cut}; expected an object in JSON"
        return {}, [Problem(GE_ERROR, "", message)]
    doubled = next(reader.doubled_keys(found), None)
    if doubled is not None:
        message = (
            f"{_shown(doubled[-1])} stands more than once; expected each option once: "
            "readers differ in which of them counts"
        )
        return {}, [Problem(UNKNOWN, str(doubled[-1]), message)]
    return found, []


def _checked_by_engine(text: bytes, found: Mapping[str, Any]) -> Iterator[Problem]:
    """What the graph engine looks at before the collector does (ge-profiling 1.4)."""
    if TRACE.encode() not in text:
        return
    trace = found.get(TRACE, "")
    if not isinstance(trace, str) or trace not in ("on", ""):
        yield _wrong(TRACE, trace, GE_ERROR)
        return
    for point in POINTS if trace else ():
        if not isinstance(found.get(point, ""), str):
            yield _wrong(point, found[point], GE_ERROR)


def _checked_by_collector(
    name: str, value: Any, found: Mapping[str, Any], chips: tuple[int, ...], warnings: list[str]
) -> Iterator[Problem]:
    """What the collector looks at, option by option (ge-profiling 1.3)."""
    option = ge_catalog().options.get(name)
    if option is None:
        close = close_to(name, ge_catalog().options, 1)
        hint = f"did you mean {close[0]}?" if close else "see: ascend-ref spec list ge-options"
        yield Problem(UNKNOWN, name, f"there is no option {_shown(name)}; {hint}")
        return
    node = ge_catalog().options_schema["properties"][name]
    wanted = node["type"]
    if option.chips and not set(option.chips) & set(chips):
        empty = value == "" and name in ("task_trace", "task_time", "ge_api", "optype")
        if not empty:
            yield Problem(UNSUPPORTED, name, f"{name}: {_without(chips, option.chips)}")
            return
    if wanted == "integer" and (isinstance(value, bool) or not isinstance(value, int)):
        yield _wrong(name, value, UNKNOWN)
        return
    if wanted == "string" and not isinstance(value, str):
        if name in POINTS:
            warnings.append(f"{name} is {_json(value)} and has no effect without {TRACE}")
        else:
            yield _wrong(name, value, UNKNOWN)
        return
    if name == "storage_limit":
        return  # a wrong one is only warned of
    if name == "output":
        if bad := _BAD_PATH.search(value):
            yield _wrong(name, value, option.code, f"{ascii(bad.group())} is not allowed")
        return
    if name == "instr_profiling_freq" and found.get("instr_profiling") != "on":
        return
    if name == "aic_metrics":
        yield from _metrics(value, chips)
        return
    if not _fits(node, value) or (
        option.most is not None
        and value > option.most.value
        and not set(option.most.not_on) & set(chips)
    ):
        yield _wrong(name, value)
    elif isinstance(value, str) and value in option.values:
        only = option.values[value]
        if not set(only) & set(chips):
            yield _wrong(name, value, extra=_without(chips, only))


def _metrics(value: str, chips: tuple[int, ...]) -> Iterator[Problem]:
    """A group that the chip has, or events by number."""
    entry, name = ge_catalog().entry, "aic_metrics"
    node = ge_catalog().options_schema["properties"][name]
    if not value:
        return
    if not _fits(node, value):
        yield _wrong(name, value)
        return
    if value.startswith(_CUSTOM):
        events = value.removeprefix(_CUSTOM).lower().split(",")
        counters = entry.counters
        most = counters.more if set(counters.more_on) & set(chips) else counters.usual
        bad = next((one for one in events if not _EVENT.fullmatch(one)), None)
        if bad is not None:
            yield _wrong(name, value, extra=f"{_shown(bad)} is no number")
        elif len(events) > most:
            yield _wrong(
                name, value, extra=f"{len(events)} events, and the chip has {most} counters"
            )
        return
    groups = {one.text: one for one in ge_catalog().metrics.values() if one.text}
    if value not in groups or value == _CUSTOM:
        known = [text for text, one in groups.items() if set(one.chips) & set(chips)]
        yield _wrong(name, value, extra=f"known here: {', '.join(known)}")
    elif not set(groups[value].chips) & set(chips):
        yield _wrong(name, value, extra=_without(chips, groups[value].chips))


def _fits(node: Mapping[str, Any], value: Any) -> bool:
    """Whether a value of the right type is one of those that the schema allows."""
    if isinstance(value, int):
        return bool(node["minimum"] <= value <= node["maximum"])
    return (
        ("enum" not in node or value in node["enum"])
        and len(value) <= node.get("maxLength", len(value))
        and len(value) >= node.get("minLength", 0)
        and len(value.encode("utf-8", "surrogateescape")) <= node.get("maxBytes", 1 << 20)
        and ("pattern" not in node or re.fullmatch(node["pattern"], value) is not None)
    )


def _setting(
    option: Option, found: Mapping[str, Any], source: Source, warnings: list[str]
) -> Setting:
    """What is in effect of an option; what has no meaning counts as missing."""
    name = option.option
    node = ge_catalog().options_schema["properties"][name]
    usual = node.get("default")
    value = found.get(name)
    kind = str if node["type"] == "string" else int
    if not isinstance(value, kind) or isinstance(value, bool):
        return Setting(name, usual, "default")
    if name == "storage_limit" and isinstance(value, str):
        return _storage(value, source, warnings)
    if name == "aic_metrics" and value == "":
        return Setting(name, ge_catalog().entry.empty_metrics, source, "")
    if value == "" and "off" in node.get("enum", ()) and name not in ("task_time", "task_trace"):
        return Setting(name, "off", source, "")
    if name == "optype" and isinstance(value, str):
        once = ",".join(dict.fromkeys(value.split(",")))
        return Setting(name, once, source, None if once == value else value)
    return Setting(name, value, source)


def _storage(value: str, source: Source, warnings: list[str]) -> Setting:
    match, name = _STORAGE.fullmatch(value), "storage_limit"
    number = int(match[1]) if match else _MOST_STORAGE + 1
    if number < _LEAST_STORAGE:
        warnings.append(f"{name} is {_shown(value)} and is raised to {_LEAST_STORAGE}MB")
        return Setting(name, f"{_LEAST_STORAGE}MB", source, value)
    if number > _MOST_STORAGE and value:
        expects = ge_catalog().options[name].expects
        warnings.append(f"{name} is {_shown(value)}; expected {expects}: it has no effect")
        return Setting(name, None, source, value)
    return Setting(name, value or None, source)


def _warnings(
    effective: Mapping[str, Setting], product: str, chips: tuple[int, ...]
) -> Iterator[str]:
    """What is accepted and not what one would think."""
    options = ge_catalog().options
    given = {name for name, one in effective.items() if one.source != "default"}
    if "task_trace" in given:
        yield "task_trace is ignored: the value of task_time, or on without one, takes its place"
    if "hccl" in given:
        yield "hccl is deprecated: task_time records collective communication as well"
    for name, of_use in (
        ("instr_profiling_freq", effective["instr_profiling"].value == "on"),
        ("host_sys_usage_freq", effective["host_sys_usage"].value is not None),
        ("llc_profiling", effective["sys_hardware_mem_freq"].value is not None),
    ):
        if name in given and not of_use:
            yield f"{name} is of no use without the option whose samples it is about"
    for point in POINTS:
        if effective[point].value and effective[TRACE].value != "on":
            yield f"{point} has an effect while graphs are built alone, as {TRACE} is not on"
    if effective["instr_profiling"].value == "on":
        others = sorted(given.intersection(options["instr_profiling"].excludes))
        if others:
            yield f"public pages do not have instr_profiling together with {', '.join(others)}"
    for name in effective:
        only = options[name].chips
        if name in given and only and set(only) & set(chips) != set(chips):
            yield f"{name}: of {product} only chip {_listed(sorted(set(only) & set(chips)))} has it"
    metrics = effective["aic_metrics"].value
    if isinstance(metrics, str) and metrics.startswith(_CUSTOM):
        events = (one for one in metrics.removeprefix(_CUSTOM).split(","))
        if any(int(one, 0) > 0x6E for one in events if _EVENT.fullmatch(one.lower())):
            yield "aic_metrics: public pages have events up to 0x6E; the collector takes any"
    if not effective["output"].value:
        yield f"without output {WORK_PATH} must be set, or the collector refuses the options"
    if effective["task_time"].value == "off":
        about = {row for row, one in ge_catalog().needs.items() if one.along_with}
        for name, option in options.items():
            on = set(option.switches(effective[name].value)) if effective[name].value else set()
            rows = [one for one in catalog().products.data.values() if on & set(one.switches)]
            if name in given and any(row.id in about for row in rows):
                yield f"{name} records what is about tasks, and task_time is off"


def _wrong(name: str, value: Any, code: str | None = None, extra: str = "") -> Problem:
    option = ge_catalog().options[name]
    more = f": {extra}" if extra else ""
    message = f"{name} is {_json(value)}; expected {option.expects}{more}"
    return Problem(code or option.code, name, message)


def _without(chips: tuple[int, ...], having: tuple[int, ...]) -> str:
    return f"chip {_listed(chips)} does not have it; expected a product of chip {_listed(having)}"


def _listed(numbers: Any) -> str:
    *others, last = map(str, numbers)
    return f"{', '.join(others)} or {last}" if others else last


def _json(value: Any) -> str:
    return clip(json.dumps(value, ensure_ascii=True), _SHOWN)


def _shown(text: object) -> str:
    return clip(ascii(str(text)), _SHOWN)
