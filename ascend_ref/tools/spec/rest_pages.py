"""What MindSpore's viewer can be asked over HTTP, as Markdown pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ascend_ref.markdown import Style, code, commas, sentences, table
from ascend_spec import mindspore_catalog
from ascend_spec.core.dialect import compile_schema, inlined
from ascend_spec.mindspore import Argument, Refusal, Request
from ascend_spec.mindspore.openapi import OPENAPI
from ascend_spec.mindspore.requests import PREFIX

from .pages import citations, evidence, in_force, resolutions
from .schema_keys import keys_table
from .subject import Subject, things

INTERFACES: Mapping[str, str] = {"mindinsight": "What MindSpore's viewer is asked over HTTP."}


def interface_section(name: str, style: Style) -> str:
    """The interface as a whole."""
    requests = mindspore_catalog().requests
    answered = [name for name, one in requests.items() if one.is_answered]
    others = [name for name, one in requests.items() if not one.is_answered]
    return style.page(
        name,
        INTERFACES[name],
        ("Paths begin with", code(PREFIX)),
        ("Described by", f"OpenAPI {OPENAPI}"),
        ("Answered", style.links("request", answered)),
        ("Known and not answered", style.links("request", others)),
    )


def request_section(request: Request, style: Style) -> str:
    """One request: its arguments, the answer, how it is refused."""
    refusals = [*request.refusals, *(one.refusal for one in request.arguments)]
    methods = (
        " ".join(filter(None, (one.verb, in_force(one.since, one.until))))
        for one in request.methods
    )
    return style.page(
        request.request,
        request.summary,
        ("Path", code(request.path)),
        ("Method", commas(methods)),
        ("In force", in_force(request.since, request.until)),
        ("Answered by", style.links("analyser", request.analysers)),
        ("Refused with", style.links("refusal", dict.fromkeys(refusals))),
        *evidence(request, style),
        style.prose(request.note),
        style.prose(request.reason and f"Not answered. {request.reason}"),
        *_arguments(request.arguments, style),
        *_answer(request, style),
        resolutions(mindspore_catalog().errata, request.errata, style),
    )


def _arguments(arguments: Sequence[Argument], style: Style) -> Iterator[str]:
    if not arguments:
        return
    yield style.below().heading("Arguments")
    rows = (
        (
            code(one.name),
            one.place,
            " or ".join(map(code, one.words)) or one.form,
            "needed" if one.needed else "" if one.otherwise is None else code(str(one.otherwise)),
            sentences(style.prose(one.summary), in_force(one.since, one.until)),
        )
        for one in arguments
    )
    yield table(("name", "place", "value", "default", "meaning"), rows)


def _answer(request: Request, style: Style) -> Iterator[str]:
    if not request.body:
        return
    answers = mindspore_catalog().answers
    schema = inlined(compile_schema(answers[request.body], answers, lambda _: True))
    rows = keys_table({"": schema}, style)
    yield style.below().heading("Answer")
    yield style.prose(schema["description"])
    if rows.count("\n") > 1:
        yield rows


def refusal_section(refusal: Refusal, style: Style) -> str:
    """One way in which requests are refused."""
    return style.page(
        refusal.refusal,
        refusal.message,
        ("Code", code(refusal.code)),
        ("Status", str(refusal.status)),
        ("Source", citations(refusal.source, style)),
    )


def rest_subjects() -> Iterator[Subject]:
    """The interface, its requests and refusals."""
    catalog = mindspore_catalog()
    yield from things(
        "interface",
        {name: name for name in INTERFACES},
        "rest/index.md#{anchor}",
        interface_section,
        summary=lambda name: INTERFACES[name],
    )
    yield from things(
        "request",
        catalog.requests,
        "rest/requests.md#{anchor}",
        request_section,
        cells=lambda one: {
            "method": commas(method.verb for method in one.methods),
            "answered by": commas(one.analysers) if one.is_answered else "nobody",
        },
    )
    yield from things(
        "refusal",
        catalog.refusals,
        "rest/refusals.md#{anchor}",
        refusal_section,
        summary=lambda one: one.message,
        also=lambda one: (one.code,),
        cells=lambda one: {"code": one.code, "status": str(one.status)},
    )
