"""The medium of block files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import Described, Judged, Medium, SelfTest

if TYPE_CHECKING:
    from ascend_ref.markdown import Style

    from ...engine.candidate import Candidate, Listing
    from ...engine.damaging import Change
    from ...engine.progress import Progress
    from ...engine.trials import Trials, Trying
    from ...options import Options
    from ...ruleset import Rule


class _BlockFiles(Medium):
    name = "bin"
    takes_databases = False
    title = "visualize_data.bin"
    given = ("visualize_data*.bin",)
    specimens = ("bin",)

    def rules(self) -> Mapping[str, Rule[Any]]:
        from .rules import load_bin_rules

        return load_bin_rules()

    def is_named(self, name: str) -> bool:
        from ascend_spec import layout_catalog

        return layout_catalog().is_file("blocks", name)

    def recognise(self, path: Path, listing: Listing) -> Candidate | None:
        from ascend_ref.sniff import is_block_file

        from ...engine.candidate import Candidate

        return Candidate(self.name, path) if is_block_file(path) else None

    def judge(self, candidate: Candidate, options: Options, progress: Progress | None) -> Judged:
        from .judge import judge_bin  # slow: jsonschema-rs

        return judge_bin(candidate.path, options, candidate.label, progress), ()

    def damage(self, candidate: Candidate, rule: Rule[Any], at: str | None) -> Sequence[Change]:
        from .damaging import damage_blocks  # slow: jsonschema-rs

        return damage_blocks(candidate.path, rule)

    def self_test(self, wanted: SelfTest) -> Trials:
        from .selftest import run_specimens  # slow: the simulator

        return run_specimens(wanted.processes, wanted.progress, wanted.rules)

    def trying(self) -> Mapping[str, Trying]:
        """A rule that is in force at no epoch of our own files is tried on none of them."""
        from ascend_spec import bin_catalog

        from ...engine.trials import Trying
        from .older import EPOCH
        from .rules import in_force

        epochs = (EPOCH, bin_catalog().epochs[-1].id)
        return {
            rule.id: Trying.of(rule, None if any(in_force(rule, one) for one in epochs) else 0)
            for rule in self.rules().values()
        }

    def describe(self, rule: Rule[Any], style: Style) -> Described:
        from . import pages

        return Described(pages.where(rule), pages.search(rule), pages.mutation(rule, style))

    def about(self, rule: Rule[Any]) -> Iterable[tuple[str, str]]:
        from . import pages

        return ((f"block/0x{number:02X}", rule.expected) for number in pages.blocks(rule))


MEDIUM = _BlockFiles()
