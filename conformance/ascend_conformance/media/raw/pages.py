"""What only the page of such a rule says: where it looks, how bad rows are found and made."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_ref.markdown import Style, code

from .rules import TEXT, RawRule

OF: dict[str, tuple[str, ...]] = {
    "hash_entry": ("hash_dic",),
    "type_entry": ("type_info_dic",),
    "call": ("api_event",),
    "operator": ("node_basic_info",),
    "attribute": ("node_attr_info",),
    "collective": ("hccl_op_info",),
    "tensor_record": ("tensor_info",),
    "context": ("context_id_info",),
    "fusion": ("fusion_op_info",),
    "memory": ("task_memory_info",),
    "planned": ("static_op_mem",),
    "graph": ("graph_id_map",),
    "step": ("ts_track",),
    "setting": ("host_sample",),
}
"""Tables of facts by the files whose rows they hold; others are about all files."""


def files_of(rule: RawRule) -> tuple[str, ...]:
    """The kinds of files that a rule is about; none where it is about all."""
    return OF.get(rule.search.table, ())


def where(rule: RawRule, style: Style) -> str:
    """The files, and the table of facts."""
    links = [style.link("raw", one) for one in files_of(rule)]
    if rule.theme == TEXT:
        links = [code("ge_profiling_{pid}.txt")]
    place = ".".join(filter(None, (rule.search.table, rule.column)))
    return f"{', '.join(links) or 'every file'}: facts {code(place)}"


def about(rule: RawRule) -> Iterator[tuple[str, str]]:
    """Addresses of the files."""
    for one in files_of(rule):
        yield f"raw/{one}", rule.expected
