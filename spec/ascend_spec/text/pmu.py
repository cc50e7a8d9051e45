"""Performance counters of the AI cores: which columns a metric group has, and how each is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from ascend_spec.core import Grade
from ascend_spec.core.bounds import allows

from .model import Circumstances, Condition, Core, CsvColumn, Mode, PmuPlace

Kind = Literal[
    "total-time",
    "cycles",
    "time",
    "ratio",
    "rate",
    "operations",
    "bandwidth",
    "volume",
    "count",
    "register",
]
Coefficients = Literal["C", "P", "S", "V1"]
Prefix = Literal["aic_", "aiv_", ""]
_WIDEST: Mapping[Mode, tuple[str, str]] = {
    "task-based": ("cpp", "A2"),
    "sample-based": ("python", "310"),
}
"""The engine that counts for the table of a mode, and the family whose lists are the widest there,
wherever it counts a group.
"""


@dataclass(frozen=True, slots=True)
class PmuMetric:
    """One metric, of one kind of core.

    ``shown`` is its name in headers and tables, without prefix and unit. What it is made of are
    counts of ``events`` (numbers of hardware events): of a ratio their sum per task cycle, of a
    rate their sum divided by that of ``over``, of operations their sum weighted by ``weights`` (by
    family, ``*``: every other), of a volume ``factor`` times their sum without ``minus``, of a
    bandwidth their sum, weighted where there are ``weights``, times the ``coefficients`` (by set;
    pipe and scalar) per second and 2^33.
    """

    id: str
    kind: Kind
    shown: str
    summary: str
    grade: Grade
    source: tuple[str, ...]
    events: tuple[int, ...] = ()
    minus: tuple[int, ...] = ()
    over: tuple[int, ...] = ()
    weights: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    factor: float | None = None
    coefficients: Mapping[Coefficients, tuple[int, int]] = field(default_factory=dict)
    errata: tuple[str, ...] = ()

    def coefficient(self, chosen: Coefficients) -> int | None:
        """Pipe times scalar in a set; one that says nothing of its own agrees with C."""
        pair = self.coefficients.get(chosen, self.coefficients.get("C"))
        return None if pair is None else pair[0] * pair[1]

    def weights_on(self, family: str) -> tuple[int, ...]:
        """The weights of the events on a family of products."""
        return self.weights.get(family, self.weights.get("*", ()))


@dataclass(frozen=True, slots=True)
class PmuKind:
    """What all metrics of a kind have in common.

    ``suffix`` is the unit at the end of the header text, ``column`` the facts of the column, as a
    column without a name. ``table``: units of TASK_PMU_INFO in one of the header's, by family
    (``*``: every other); ``samples``: units of SAMPLE_PMU_SUMMARY.
    """

    id: Kind
    suffix: str
    column: CsvColumn
    table: Mapping[str, int] = field(default_factory=dict)
    samples: int = 1

    def in_table(self, family: str, mode: Mode = "task-based") -> int:
        """How many units of the table of a mode are one of the header's."""
        if mode == "sample-based":
            return self.samples
        return self.table.get(family, self.table.get("*", 1))


@dataclass(frozen=True, slots=True)
class PmuOrder:
    """The metrics of a group, in order, under a condition."""

    metrics: tuple[str, ...]
    modes: tuple[Mode, ...] = ()
    families: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    cores: tuple[Core, ...] = ()

    def holds(self, mode: Mode, family: str, engine: str, core: Core | None) -> bool:
        """Whether the order is that of these circumstances."""
        asked = (self.modes, mode), (self.families, family), (self.engines, engine)
        return all(allows(one, at) for one, at in (*asked, (self.cores, core)))


@dataclass(frozen=True, slots=True)
class ProgrammedEvents:
    """What the counters of a kind of core count: numbers of hardware ``events`` in their order.

    ``name``: of the list in ``sample.json``; empty for that of its group.
    """

    events: tuple[int, ...]
    families: tuple[str, ...]
    cores: tuple[Core, ...] = ()
    name: str = ""

    def holds(self, family: str, core: Core | None) -> bool:
        """Whether the list is that of a family and a kind of core."""
        return allows(self.families, family) and allows(self.cores, core)


@dataclass(frozen=True, slots=True, kw_only=True)
class PmuGroup:
    """One group of metrics. ``spelled``: the names in options; ``timed``: task-based, each ratio is
    preceded by its time. Of the ``orders`` and of the ``programmed`` events the first one that
    holds counts.
    """

    name: str
    summary: str
    spelled: tuple[str, ...]
    families: tuple[str, ...]
    timed: bool = False
    orders: tuple[PmuOrder, ...]
    programmed: tuple[ProgrammedEvents, ...] = ()
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PmuBlock:
    """A run of columns about one kind of core: total time and cycles, then the metrics."""

    prefix: Prefix
    core: Core | None = None
    totals: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PmuLayout:
    """The blocks of one mode on some families."""

    mode: Mode
    families: tuple[str, ...]
    blocks: tuple[PmuBlock, ...]


@dataclass(frozen=True, slots=True)
class Derived:
    """A column that follows all blocks where the header has every name of one of ``needs``."""

    column: CsvColumn
    needs: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class PmuGroups:
    """Every metric group, by the name that ``aic_metrics`` has in files (``PipeUtilization``).

    ``never`` names, by core, metrics that are left out of a prefixed block, since the unit does not
    exist there; ``not_available``, by product, metrics whose column stays and holds ``N/A``.
    ``coefficients`` says where each set of bandwidth coefficients is in force.
    """

    kinds: Mapping[Kind, PmuKind]
    metrics: Mapping[str, PmuMetric]
    groups: Mapping[str, PmuGroup]
    layouts: tuple[PmuLayout, ...]
    derived: tuple[Derived, ...]
    never: Mapping[Core, frozenset[str]]
    not_available: Mapping[str, frozenset[str]]
    coefficients: Mapping[Coefficients, str]

    def group(self, name: str) -> PmuGroup | None:
        """The group with a name in files or a spelling in options, ``ACL_AICORE_L2_CACHE``."""
        return next(
            (
                one
                for one in self.groups.values()
                if name in (one.name, *one.spelled, *(part.name for part in one.programmed))
            ),
            None,
        )

    def blocks(self, mode: Mode, family: str) -> tuple[PmuBlock, ...]:
        """The kinds of cores that a family counts apart."""
        layout = next(one for one in self.layouts if one.mode == mode and family in one.families)
        return layout.blocks

    def table_metrics(
        self, group: PmuGroup, family: str, core: Core | None, mode: Mode = "task-based"
    ) -> list[PmuMetric]:
        """The metrics that the table of a mode has of a group for one kind of core, in order
        (db-schema 7.9).

        They are more than those of text files: nothing is left out because the core lacks the unit,
        and the list is the widest that the group has on any family, but for a family that has a
        list of its own. Sampled cores have no total of cycles.
        """
        engine, widest = _WIDEST[mode]
        orders = [
            next(order for order in group.orders if order.holds(mode, one, engine, core))
            for one in (family, widest if widest in group.families else family)
        ]
        order = next((one for one in orders if one.families), orders[-1]).metrics
        found = [self.metrics["total_time"]]
        if mode == "task-based":
            found.append(self.metrics["total_cycles"])
        for name in order:
            metric = self.metrics[name]
            if group.timed and mode == "task-based" and metric.kind == "ratio":
                found.append(self.metrics[time_of(name)])
            found.append(metric)
        return found

    def metric(self, name: str) -> PmuMetric | None:
        """The metric of a column, by its name with prefix and without unit (``aic_mac_ratio``).

        Of two metrics that are shown under one name, the one without ``_extra``.
        """
        for prefix in ("aic_", "aiv_", ""):
            if name.startswith(prefix) and name[len(prefix) :] in self.metrics:
                return self.metrics[name[len(prefix) :]]
        return None

    def columns_at(
        self, place: PmuPlace, at: Circumstances, registers: Sequence[str] = ()
    ) -> list[CsvColumn]:
        """The columns of the chosen metrics; none at level 0 or where no metrics were chosen.

        ``registers``: the names of the counters of the group ``Custom``. Raises ``ValueError`` for
        a group that does not exist or is not collected on the family.
        """
        if at.metrics is None or at.level == 0 or "communication-only" in at.scene:
            return []
        return self._columns(place, at.metrics, at.family, at.writer.copied(at.family), registers)

    def header(
        self,
        *,
        mode: Mode,
        metrics: str,
        family: str,
        engine: str,
        core: Core | None = None,
        registers: Sequence[str] = (),
    ) -> tuple[str, ...]:
        """The header texts of a group alone; ``engine`` is ``cpp`` or ``python``."""
        place = PmuPlace(mode, core)
        return tuple(one.name for one in self._columns(place, metrics, family, engine, registers))

    def every_column(self, place: PmuPlace) -> tuple[CsvColumn, ...]:
        """Every column that any group has in a place, once each; its condition names the families
        and groups that have it.
        """
        found: dict[str, CsvColumn] = {}
        families: dict[str, dict[str, None]] = {}
        metrics: dict[str, dict[str, None]] = {}
        for group in self.groups.values():
            for family in group.families:
                for engine in ("cpp", "python"):
                    for one in self._columns(place, group.name, family, engine, ()):
                        found.setdefault(one.name, one)
                        families.setdefault(one.name, {})[family] = None
                        metrics.setdefault(one.name, {})[group.name] = None
        return tuple(
            replace(
                column,
                when=Condition(
                    families=tuple(families[name]), metrics=tuple(metrics[name]), levels=(1, 2)
                ),
            )
            for name, column in found.items()
        )

    def _columns(
        self, place: PmuPlace, metrics: str, family: str, engine: str, registers: Sequence[str]
    ) -> list[CsvColumn]:
        group = self.group(metrics)
        if group is None:
            raise ValueError(f"unknown metrics: {metrics!r}; known: {', '.join(self.groups)}")
        if family not in group.families:
            raise ValueError(f"{group.name} is not collected on {family}")
        columns: list[CsvColumn] = []
        for block in self.blocks(place.mode, family):
            columns += self._block(block, group, place, family, engine, registers)
        names = {one.name for one in columns}
        for extra in self.derived:
            if any(names.issuperset(needed) for needed in extra.needs):
                columns.append(extra.column)
        return columns

    def _block(
        self,
        block: PmuBlock,
        group: PmuGroup,
        place: PmuPlace,
        family: str,
        engine: str,
        registers: Sequence[str],
    ) -> Iterator[CsvColumn]:
        for text, total in block.totals.items():
            yield self._column(text, self.metrics[total], block)
        core = place.core or block.core
        order = next(
            one.metrics for one in group.orders if one.holds(place.mode, family, engine, core)
        )
        never = self.never.get(block.core, frozenset()) if block.core else frozenset()
        for name in order:
            metric = self.metrics[name]
            if metric.shown in never:
                continue
            if group.timed and place.mode == "task-based" and metric.kind == "ratio":
                yield self._named(self.metrics[time_of(name)], block)
            yield self._named(metric, block)
        for register in registers:
            yield self._column(f"{block.prefix}{register}", self.metrics["register"], block)

    def _named(self, metric: PmuMetric, block: PmuBlock) -> CsvColumn:
        text = f"{block.prefix}{metric.shown}{self.kinds[metric.kind].suffix}"
        return self._column(text, metric, block)

    def _column(self, name: str, metric: PmuMetric, block: PmuBlock) -> CsvColumn:
        key = name, metric.id, block.prefix, block.core
        if key not in self._made:
            self._made[key] = replace(
                self.kinds[metric.kind].column,
                name=name,
                summary=metric.summary,
                grade=metric.grade,
                source=metric.source,
                metric=f"{block.prefix}{metric.shown}",
                core=block.core,
                errata=metric.errata,
            )
        return self._made[key]

    @cached_property
    def _made(self) -> dict[tuple[str, str, str, Core | None], CsvColumn]:
        """Columns by text, metric, prefix and core: layouts, families and engines repeat them."""
        return {}


def time_of(ratio: str) -> str:
    """The name of the time that belongs to a ratio: ``mac_time_extra`` to ``mac_ratio_extra``."""
    return ratio.replace("_ratio", "_time")
