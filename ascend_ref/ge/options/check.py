"""What the graph engine and its collector refuse of options, and why."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ascend_ref.cli.suggest import close_to
from ascend_ref.db.display import clip
from ascend_ref.json_damage import find_damage, wide_text
from ascend_ref.json_keys import ObjectReader
from ascend_spec import ge_catalog
from ascend_spec.ge import Option, either

from .given import Decision

GE_ERROR = "E10001"
REFUSED, UNSUPPORTED = "EK0001", "EK0005"
TRACE, POINTS = "training_trace", ("fp_point", "bp_point")
CUSTOM = "Custom:"
EVENT = re.compile(r"0x[0-9a-f]+|[0-9]+")

_SHOWN = 60
_EMPTY_ANYWHERE = "optype"
"""The option of which an empty text, which says nothing, is taken on every chip."""

Chips = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why the options are refused: the code of the error, the option, and a sentence."""

    code: str
    option: str
    message: str

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


def read(decision: Decision) -> tuple[dict[str, Any], list[Problem]]:
    """The object of the text, or what is wrong with it."""
    text, name = decision.text, ge_catalog().entry.options.key
    cut = ""
    if decision.bytes_given > (longest := ge_catalog().entry.longest):
        kept = f"the graph engine keeps the first {longest:,}"
        cut = f"; of its {decision.bytes_given:,} bytes {kept}"
    damage = wide_text(text) or find_damage(text)
    if damage is not None:
        reason = damage.reason.replace("the file", "the text")
        message = f"{name}: byte {damage.offset}: {reason}{cut}; expected an object in JSON"
        return {}, [Problem(GE_ERROR, "", message)]
    reader = ObjectReader()
    found = json.loads(text, object_pairs_hook=reader)
    if not isinstance(found, dict):
        message = f"{name}: is {json_text(found)}{cut}; expected an object in JSON"
        return {}, [Problem(GE_ERROR, "", message)]
    doubled = next(reader.doubled_keys(found), None)
    if doubled is not None:
        message = (
            f"{quote(doubled[-1])} stands more than once; expected each option once: "
            "readers differ in which of them counts"
        )
        return {}, [Problem(REFUSED, str(doubled[-1]), message)]
    return found, []


def problems_of(found: Mapping[str, Any], chips: Chips) -> Iterator[Problem]:
    """What the graph engine refuses of options (ge-profiling 1.4), then the collector (1.3).

    Both stop at the first; of one option only the first is stated.
    """
    wrong = set()
    for problem in _by_engine(found):
        wrong.add(problem.option)
        yield problem
    for name, value in found.items():
        problem_of_it = None if name in wrong else _by_collector(name, value, found, chips)
        if problem_of_it is not None:
            yield problem_of_it


def _by_engine(found: Mapping[str, Any]) -> Iterator[Problem]:
    """What is looked at before the collector does."""
    trace = found.get(TRACE, "")
    if not isinstance(trace, str) or trace not in _node(TRACE)["enum"]:
        yield _wrong(TRACE, trace, GE_ERROR)
        return
    for point in POINTS if trace else ():
        if not isinstance(found.get(point, ""), str):
            yield _wrong(point, found[point], GE_ERROR)


def _by_collector(name: str, value: Any, found: Mapping[str, Any], chips: Chips) -> Problem | None:
    """What is looked at option by option."""
    option = ge_catalog().options.get(name)
    if option is None:
        close = close_to(name, ge_catalog().options, 1)
        hint = f"did you mean {close[0]}?" if close else "see: ascend-ref spec list ge-options"
        return Problem(REFUSED, name, f"there is no option {quote(name)}; {hint}")
    return _unsupported(option, value, chips) or _fault(option, value, found, chips)


def _unsupported(option: Option, value: Any, chips: Chips) -> Problem | None:
    """That the chip does not have what it records."""
    name = option.option
    if not option.chips or set(option.chips) & set(chips):
        return None
    if value == "" and name == _EMPTY_ANYWHERE:
        return None
    return Problem(UNSUPPORTED, name, f"{name}: {_without(chips, option.chips)}")


def _fault(option: Option, value: Any, found: Mapping[str, Any], chips: Chips) -> Problem | None:
    """That a value is of the wrong type, or none of those that are allowed."""
    name = option.option
    kind = str if _node(name)["type"] == "string" else int
    if not isinstance(value, kind) or isinstance(value, bool):
        return None if name in POINTS else _wrong(name, value, REFUSED)
    if name in _OWN:
        return _OWN[name](str(value), chips)
    other = option.of_use_with
    if option.unchecked and (other is None or found.get(other) != "on"):
        return None
    if not _fits(name, value) or _is_too_much(option, value, chips):
        return _wrong(name, value)
    only = option.values.get(str(value))
    if only is not None and not set(only) & set(chips):
        return _wrong(name, value, extra=_without(chips, only))
    return None


def _output(value: str, _: Chips) -> Problem | None:
    """A path without marks that shells read."""
    refused = ge_catalog().functions["aclgrphProfInit"].check("path-characters").characters
    bad = next((one for one in value if one in refused), None)
    return _wrong("output", value, extra=f"{bad!a} is not allowed") if bad else None


def _optype(value: str, _: Chips) -> Problem | None:
    """Types of operators with commas between them."""
    return None if _fits("optype", value) else _wrong("optype", value)


def _metrics(value: str, chips: Chips) -> Problem | None:
    """A group that the chip has, or events by number."""
    name = "aic_metrics"
    if not _fits(name, value):
        return _wrong(name, value)
    if value.startswith(CUSTOM):
        return _events(value, chips)
    groups = {one.text: one for one in ge_catalog().metrics.values() if one.text}
    if value in ("", *(text for text, one in groups.items() if set(one.chips) & set(chips))):
        return None
    if value in groups:
        return _wrong(name, value, extra=_without(chips, groups[value].chips))
    known = [text for text, one in groups.items() if text and set(one.chips) & set(chips)]
    return _wrong(name, value, extra=f"known here: {', '.join(known)}")


def _events(value: str, chips: Chips) -> Problem | None:
    """Events by number, as many as the chip can count."""
    counters = ge_catalog().entry.counters
    events = value.removeprefix(CUSTOM).lower().split(",")
    most = counters.more if set(counters.more_on) & set(chips) else counters.usual
    for one in events:
        if not EVENT.fullmatch(one):
            return _wrong("aic_metrics", value, extra=f"{quote(one)} is no number")
    if len(events) > most:
        extra = f"{len(events)} events, and the chip has {most} counters"
        return _wrong("aic_metrics", value, extra=extra)
    return None


_OWN: Mapping[str, Callable[[str, Chips], Problem | None]] = {
    "output": _output,
    "aic_metrics": _metrics,
    "optype": _optype,
}
"""Options whose texts are more than one of some words."""


def _fits(name: str, value: Any) -> bool:
    """Whether a value of the right type is one of those that the schema allows."""
    node = _node(name)
    if isinstance(value, int):
        return bool(node["minimum"] <= value <= node["maximum"])
    size = len(value.encode("utf-8", "surrogateescape"))
    return (
        value in node.get("enum", (value,))
        and node.get("minLength", 0) <= len(value) <= node.get("maxLength", len(value))
        and size <= node.get("maxBytes", size)
        and ("pattern" not in node or re.fullmatch(node["pattern"], value) is not None)
    )


def _is_too_much(option: Option, value: Any, chips: Chips) -> bool:
    """Whether it is above what this chip takes."""
    most = option.most
    return most is not None and value > most.value and not set(most.not_on) & set(chips)


def _node(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = ge_catalog().options_schema["properties"][name]
    return found


def _wrong(name: str, value: Any, code: str | None = None, extra: str = "") -> Problem:
    option = ge_catalog().options[name]
    more = f": {extra}" if extra else ""
    message = f"{name} is {json_text(value)}; expected {option.expects}{more}"
    return Problem(code or option.code, name, message)


def _without(chips: Chips, having: Chips) -> str:
    return f"chip {either(chips)} does not have it; expected a product of chip {either(having)}"


def json_text(value: Any) -> str:
    """A value as it stands in JSON, cut where it is long."""
    return clip(json.dumps(value, ensure_ascii=True), _SHOWN)


def quote(text: object) -> str:
    """A text in quotes, cut where it is long."""
    return clip(ascii(str(text)), _SHOWN)
