"""The medium of a server's answers, which ``ascend-ref probe`` judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .. import Described, Medium

if TYPE_CHECKING:
    from ascend_ref.markdown import Style

    from ...ruleset import Rule


class _Answers(Medium):
    name = "api"
    title = "Answers of a server"

    def rules(self) -> Mapping[str, Rule[Any]]:
        from .rules import load_api_rules

        return load_api_rules()

    def describe(self, rule: Rule[Any], style: Style) -> Described:
        from ascend_ref.markdown import code

        finds = code(rule.search.finds)
        return Described(
            "the answers of a server, by ascend-ref probe",
            f"The probe compares what came with what is due, and notices: {finds}.",
            _mutation(rule, style),
        )


def _mutation(rule: Rule[Any], style: Style) -> Iterator[str]:
    import yaml

    from ascend_ref.markdown import fenced

    if rule.breaks:
        yield style.part("How the tests break it")
        yield "In what a sound server sends, each of these changes wakes this rule alone:"
        edits = yaml.safe_dump([dict(edit) for edit in rule.breaks], sort_keys=False)
        yield fenced("yaml", edits)


MEDIUM = _Answers()
