"""What MindSpore's Profiler does when it is called, as Markdown pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ascend_ref.markdown import Style, commas, sentences, table
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import Transition

from .pages import citations, in_force
from .subject import Subject, grouped, things

CALLS = {
    "start": "Begins a recording.",
    "stop": "Ends a recording.",
    "analyse": "Makes intermediate files of a recording, and answers from them.",
}


def call_section(transitions: Sequence[Transition], style: Style) -> str:
    """One call: what it does in each state, by day."""
    call = transitions[0].call
    rows = (
        (
            one.state,
            one.verdict,
            one.then,
            sentences(style.prose(one.summary), in_force(one.since, one.until)),
            citations(one.source, style),
        )
        for one in transitions
    )
    return style.page(
        call,
        CALLS[call],
        table(("state", "verdict", "then", "meaning", "source"), rows),
    )


def life_cycle_subjects() -> Iterator[Subject]:
    """The calls of the Profiler."""
    yield from things(
        "profiler-call",
        grouped(mindspore_catalog().life_cycle, lambda one: one.call),
        "mindspore/life_cycle.md#{anchor}",
        call_section,
        summary=lambda ones: CALLS[ones[0].call],
        also=lambda ones: (f"Profiler.{ones[0].call}",),
        cells=lambda ones: {"verdicts": commas(dict.fromkeys(one.verdict for one in ones))},
    )
