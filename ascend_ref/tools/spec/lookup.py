"""From what a user types to the one thing that it means."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from ascend_ref.cli.suggest import close_to
from ascend_spec import per_spec

from .subject import KINDS, Subject

PROVIDERS = "ascend_ref.subjects"
"""Entry points, called like kinds: functions that give the subjects of that kind."""


class NotFound(Exception):
    """The text means nothing, or several things; the message says what could be meant."""


FAMILIES: Mapping[str, tuple[str, ...]] = {
    "pages:schema_subjects": ("table", "enum"),
    "pages:part_subjects": ("column", "member"),
    "csv_pages:csv_subjects": ("csv", "counter-group", "metric", "writer"),
    "csv_pages:header_subjects": ("header",),
    "timeline_pages:timeline_subjects": (
        *("timeline", "layer", "flow"),
        *("trace-key", "trace-form", "pid-rule"),
    ),
    "timeline_pages:event_subjects": ("trace-event", "argument"),
    "document_pages:document_subjects": ("document",),
    "cluster_pages:cluster_subjects": ("cluster-table",),
    "consumer_pages:consumer_subjects": ("reader", "behaviour"),
    "blocks:bin_subjects": ("block", "record", "values", "epoch"),
    "blocks:key_subjects": ("key",),
    "raw_pages:raw_subjects": ("raw", "chip", "raw-values"),
    "mindspore_pages:mindspore_subjects": (
        *("mindspore", "intermediate", "analyser", "mindspore-generation", "mindspore-values"),
    ),
    "life_cycle_pages:life_cycle_subjects": ("profiler-call",),
    "ge_option_pages:ge_option_subjects": (
        *("ge-option", "ge-entry", "ge-variable", "ge-error"),
        *("profiling-type", "switch-bit", "aic-metric"),
    ),
    "ge_call_pages:ge_call_subjects": (
        *("ge-call", "ge-code", "ge-state", "data-type", "ge-component", "ge-layer", "ge-values"),
    ),
    "ge_trace_pages:ge_trace_subjects": (
        *("log-id", "graph-name", "insertion", "executor", "ge-schema", "dump-message"),
    ),
    "ge_report_pages:ge_report_subjects": (
        *("ge-event", "ge-event-space", "ge-enumeration", "ge-report", "acl-call"),
        *("ge-structure", "ge-dump"),
    ),
    "rest_pages:rest_subjects": ("interface", "request", "refusal"),
    "api_pages:api_subjects": ("command", "event", "error", "envelope", "generation"),
    "recording_pages:recording_subjects": ("entity",),
    "layout_pages:layout_subjects": ("layout",),
    "exchange_pages:exchange_subjects": ("exchange",),
    "lexicon:lexicon_subjects": (
        *("addition", "carrier", "revision", "schema-version", "switch", "product", "data"),
        *("capability", "level", "vocabulary", "value-type", "source"),
    ),
    "disagreements:erratum_subjects": ("erratum",),
}
"""The functions of this folder that give the subjects of the spec, with the kinds of each."""


def subjects() -> Mapping[str, Subject]:
    """Every subject of every installed package by its address, in the order of the kinds."""
    order = {kind: place for place, kind in enumerate(KINDS)}
    given = sorted(of_kinds(KINDS), key=lambda one: order[one.kind])
    return {one.address: one for one in given}


def of_kinds(kinds: Iterable[str]) -> list[Subject]:
    """The subjects of some kinds; nothing is loaded for the others."""
    wanted = set(kinds)
    references = dict.fromkeys(_references()[kind] for kind in KINDS if kind in wanted)
    given = (one for reference in references for one in _given(reference))
    return [one for one in given if one.kind in wanted]


@cache
def _references() -> Mapping[str, str]:
    """By kind, the function that gives its subjects; packages register one for a kind of theirs."""
    installed = {one.name: one.value for one in entry_points(group=PROVIDERS)}
    for place, kinds in FAMILIES.items():
        installed |= dict.fromkeys(kinds, f"{__package__}.{place}")
    return installed


@per_spec
def _given(reference: str) -> tuple[Subject, ...]:
    give: Callable[[], Iterable[Subject]] = EntryPoint("", reference, PROVIDERS).load()
    return tuple(give())


def find(text: str) -> Subject:
    """The subject of an address, or of a name that only one thing has; capitals do not matter.

    A name is that in the address (``TASK``, ``op_summary/Block Num``) or a further one
    (``op_summary.csv``, ``ACL_AICORE_L2_CACHE``); the name of a file of a profile is that of what
    it holds. Raises :class:`NotFound`.
    """
    kind, _, name = text.casefold().partition("/")
    short = (one for one, facts in KINDS.items() if facts.short and facts.has_name(text))
    found = _named(of_kinds([kind]), name) or _named(of_kinds(short), text.casefold())
    if len(found) > 1:  # MEMORY_RECORD is no file memory_record, nor what a viewer adds to one
        found = [one for one in found if one.kind != "addition"]
        usual = [one for one in found if not KINDS[one.kind].yields]
        exact = ([one for one in ones if text in (one.name, *one.also)] for ones in (usual, found))
        found = next((ones for ones in (*exact, usual) if len(ones) == 1), found)
    if len({one.kind for one in found}) == 1:  # aic_GM_to_L1_datas and aic_gm_to_l1_datas
        found = [one for one in found if one.name in (text, text.partition("/")[2])] or found
    if len(found) == 1:
        return found[0]
    if found:
        found.sort(key=lambda one: list(KINDS).index(one.kind))
        listed = ", ".join(one.address for one in found)
        raise NotFound(f"{text!r} is the name of several things: {listed}; give the address")
    from .layout_pages import address_of_file

    known = subjects()
    held = known.get(address_of_file(text) or "")
    if held is not None:
        return held
    raise NotFound(_unknown(text, known.values()))


def _named(known: Iterable[Subject], wanted: str) -> list[Subject]:
    """The subjects of this name; within a kind a further name counts only where no name fits."""
    alike = [
        one
        for one in known
        if one.name.casefold() == wanted or any(name.casefold() == wanted for name in one.also)
    ]
    by_name = {one.kind for one in alike if one.name.casefold() == wanted}
    return [one for one in alike if one.kind not in by_name or one.name.casefold() == wanted]


def _unknown(text: str, known: Iterable[Subject]) -> str:
    """What to say about a text that is no name; of names that are alike, the addresses."""
    addresses: dict[str, list[str]] = defaultdict(list)
    for one in known:
        for name in (one.name, *one.also, one.address):
            addresses[name.casefold()].append(one.address)
    meant = [one for name in close_to(text, addresses) for one in addresses[name.casefold()]]
    if not meant:
        return f"unknown name {text!r}; see: ascend-ref spec list"
    return f"unknown name {text!r}; did you mean {' or '.join(dict.fromkeys(meant))}?"
