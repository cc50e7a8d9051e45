"""From the query and the body of a request to arguments, as the spec describes them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from ascend_ref.cli.suggest import unknown
from ascend_ref.mindspore.analyse.factory import NoAnalyser, find_analyser
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import Argument, Request
from ascend_spec.mindspore.requests import CONDITIONS as CONDITION_KEYS
from ascend_spec.mindspore.requests import (
    DEVICE_TEXT,
    DEVICES_TEXT,
    FLAGS,
    NUMBER_TEXT,
    NUMBERS_TEXT,
)

from .refused import Refused

DEVICE, NUMBER = map(re.compile, (DEVICE_TEXT, NUMBER_TEXT))
SEVERAL = {
    "devices": (re.compile(DEVICES_TEXT), "numbers of devices"),
    "numbers": (re.compile(NUMBERS_TEXT), "whole numbers"),
}
CONDITIONS = ("filter", "sort", "page")
FILTER = CONDITION_KEYS[0]
NOT_GIVEN = object()


def read_arguments(
    request: Request, day: str, query: Iterable[tuple[str, str]], body: bytes
) -> dict[str, Any]:
    """The arguments of a request by name; those that are not given have what holds without them.

    Keys of the query that the spec does not know are ignored, as by the viewer. Raises
    :class:`Refused`.
    """
    given: dict[str, str] = {}
    wanted = {one.name: one for one in request.arguments_on(day, "query")}
    for name, value in query:
        if name in given and name in wanted:
            raise Refused(wanted[name].refusal, f"{name} is given twice.")
        given[name] = value
    found = {name: _of_query(one, given.get(name)) for name, one in wanted.items()}
    parts = request.arguments_on(day, "body")
    if not parts:
        return found
    document = _document(body)
    names = [one.name for one in parts]
    for key in document:
        if key not in names:
            raise Refused("body-type", unknown("key of the body", key, names))
    return found | {one.name: _of_body(one, document.get(one.name, NOT_GIVEN)) for one in parts}


def condition_of(arguments: Mapping[str, Any], request: Request) -> dict[str, Any]:
    """The condition of a query: that among arguments, with the switches that the request sets.

    Raises :class:`Refused` where the arguments have one of these.
    """
    names = {one.name for one in request.arguments if one.form in CONDITIONS}
    found = {name: arguments[name] for name in names if arguments.get(name) is not None}
    known = mindspore_catalog().analysers
    named = [switch.name for one in request.analysers[:1] for switch in known[one].switches]
    given = {name: arguments[name] for name in named if arguments.get(name) is not None}
    filters = found.get(FILTER, {})
    for name in request.switches.keys() & filters.keys():
        raise Refused("filter", f"{name} is set by the request.")
    filters = {**filters, **request.switches, **given}
    return {**found, FILTER: filters} if filters else found


def _document(body: bytes) -> dict[str, Any]:
    """The object of a body; an empty one is an empty object."""
    if not body:
        return {}
    try:
        document = json.loads(
            body.decode("utf-8"), parse_constant=_refuse_constant, parse_float=_number
        )
    except (ValueError, RecursionError) as problem:
        raise Refused("parameter-value", f"The body is no JSON: {problem}") from None
    if not isinstance(document, dict):
        kind = type(document).__name__
        raise Refused("body-type", f"Expected an object as body, got {kind}.")
    return document


def _number(text: str) -> int | float:
    """A number of JSON, which is whole whether it is written 3 or 3.0."""
    number = float(text)
    return int(number) if number.is_integer() else number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _of_query(argument: Argument, text: str | None) -> Any:
    if text is None:
        return _missing(argument)
    if argument.form in SEVERAL:
        form, what = SEVERAL[argument.form]
        if not form.fullmatch(text):
            _refuse(argument, f"{what} with commas between them", text)
        return text.split(",")
    if argument.form == "flag":
        if text not in FLAGS:
            _refuse(argument, " or ".join(FLAGS), text)
        return FLAGS[text]
    if argument.form != "number":
        return _checked(argument, text)
    if not NUMBER.fullmatch(text):
        _refuse(argument, "a whole number", text)
    return int(text)


def _of_body(argument: Argument, value: Any) -> Any:
    if value is NOT_GIVEN:
        return _missing(argument)
    if argument.form in CONDITIONS:
        if not isinstance(value, dict):
            _refuse(argument, "an object", value)
        return value
    if argument.form == "number":
        if isinstance(value, str) and NUMBER.fullmatch(value):
            return int(value)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            _refuse(argument, "a whole number from 0 on", value)
        return value
    return _checked(argument, value)


def _missing(argument: Argument) -> Any:
    if argument.needed:
        raise Refused(argument.refusal, f"{argument.name} is missing. {argument.summary}")
    return argument.otherwise


def _checked(argument: Argument, value: Any) -> str:
    """A text of its form."""
    if not isinstance(value, str) or not value:
        _refuse(argument, "a text", value)
    match argument.form:
        case "device" if not DEVICE.fullmatch(value):
            _refuse(argument, "the number of a device", value)
        case "word" if value not in argument.words:
            raise Refused(argument.refusal, unknown(argument.name, value, argument.words))
        case "analyser":
            try:
                analyser = find_analyser(value)
            except NoAnalyser as problem:
                raise Refused(argument.refusal, str(problem.args[0])) from None
            if analyser.answer != "rows":
                raise Refused(argument.refusal, f"The answers of {value} have no rows.")
    return value


def _refuse(argument: Argument, expected: str, value: Any) -> NoReturn:
    raise Refused(argument.refusal, f"{argument.name}: expected {expected}, got {value!r:.200}.")
