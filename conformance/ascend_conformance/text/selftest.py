"""Every rule meets its own break on clean facts, and only its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ascend_ref.text.read import columns_of
from ascend_spec.text import NumberFormat, text_catalog

from ..finding import Finding
from ..options import Options
from .cells import CellCheck, checks_of
from .checks import reads
from .crosstrials import try_agreement
from .database import Facts, open_facts, quoted, text_literal
from .folder import Folder, read_folder
from .judge import find
from .layers import ALL_LAYERS
from .loadcsv import PLACE
from .loaddb import load_database
from .rules import TextInstance, TextRule, instances, load_text_rules
from .specimens import SUBJECTS, write_specimen

WITHOUT_EXAMPLES = Options(max_examples=0)

_CHANGED = re.compile(
    r'^(?:UPDATE|DELETE FROM|INSERT INTO|DROP TABLE|ALTER TABLE)\s+([a-z]+)\.("[^"]+"|\w+)',
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TextTrial:
    """One rule's break on one folder: the rules that fired, or why nothing was broken."""

    subject: str
    rule: str
    place: str
    fired: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    not_broken: str | None = None

    @property
    def caught(self) -> bool:
        """Whether the rule saw the break."""
        return self.rule in self.fired

    @property
    def false_alarms(self) -> tuple[str, ...]:
        """Every other rule that fired, but for those that the rule names itself."""
        return tuple(rule for rule in self.fired if rule != self.rule and rule not in self.also)


@dataclass
class TextSelfTest:
    """The sums over all trials.

    ``unclean`` are findings on the clean folders, but for errata that exporters really have.
    """

    trials: list[TextTrial] = field(default_factory=list)
    unclean: list[str] = field(default_factory=list)

    @property
    def mutations(self) -> list[TextTrial]:
        """Trials whose facts could be broken."""
        return [trial for trial in self.trials if trial.not_broken is None]

    @property
    def missed(self) -> list[TextTrial]:
        """Breaks that their rule did not see."""
        return [trial for trial in self.mutations if not trial.caught]

    @property
    def false_alarms(self) -> list[TextTrial]:
        """Breaks that woke another rule as well."""
        return [trial for trial in self.mutations if trial.false_alarms]

    @property
    def never_broken(self) -> list[str]:
        """Rules with a break that none of the folders gave occasion for."""
        tried = {trial.rule for trial in self.mutations}
        return sorted({trial.rule for trial in self.trials} - tried)

    @property
    def passed(self) -> bool:
        """All caught, none false, each rule tried, clean folders clean."""
        return not (self.missed or self.false_alarms or self.unclean or self.never_broken)


def run_subject(subject: str, only: Iterable[str] | None = None) -> TextSelfTest:
    """Try every rule, or those named, on one clean folder; what a worker process does."""
    wanted = set(load_text_rules() if only is None else only)
    rules = list(load_text_rules().values())
    result = TextSelfTest()
    with open_specimen(subject) as folder:
        clean = find(folder, rules, WITHOUT_EXAMPLES)
        before = {_key(one) for one in clean}
        result.unclean += [
            f"{subject}: {one.rule} {one.place}: {one.message}"
            for one in clean
            if one.erratum is None
        ]
        for rule in rules:
            if rule.id in wanted:
                result.trials += try_rule(subject, folder, rule, before)
    return result


def run_specimens(
    processes: int = 1, progress: Callable[[int, int], None] | None = None
) -> TextSelfTest:
    """Try every rule on all clean folders and sum up."""
    result = TextSelfTest()
    with ExitStack() as stack:
        if processes > 1:
            pool = stack.enter_context(ProcessPoolExecutor(min(processes, len(SUBJECTS))))
            parts = pool.map(run_subject, SUBJECTS)
        else:
            parts = map(run_subject, SUBJECTS)
        for done, part in enumerate(parts, start=1):
            result.trials += part.trials
            result.unclean += part.unclean
            if progress:
                progress(done, len(SUBJECTS))
    return result


@contextmanager
def open_specimen(subject: str) -> Iterator[Folder]:
    """The facts of a clean folder, every layer a table, with the database beside it."""
    with TemporaryDirectory(prefix="ascend-ref-") as place, open_facts() as facts:
        deliverables, database = write_specimen(subject, Path(place))
        folder = read_folder(facts, deliverables, tables=ALL_LAYERS)
        load_database(folder, database, load_text_rules().values())
        yield folder


def try_rule(
    subject: str, folder: Folder, rule: TextRule, before: set[tuple[str, str]]
) -> Iterator[TextTrial]:
    """Break the facts for a rule at each of its places; findings from ``before`` do not count."""
    if rule.agreement is not None:
        yield from _cross_trials(subject, folder, rule)
        return
    if rule.check is not None:
        for place, breaks in _structural_breaks(folder, rule):
            yield _trial(subject, folder, rule, place, breaks, before)
        return
    for instance in instances(rule):
        if instance.breaks and _present(folder.facts, instance):
            yield _trial(subject, folder, rule, instance.table, instance.breaks, before)


def _cross_trials(subject: str, folder: Folder, rule: TextRule) -> Iterator[TextTrial]:
    """Every change that breaks an agreement; other rules see no cell that they do not read."""
    tried = False
    for one in try_agreement(folder, rule):
        tried = True
        yield TextTrial(subject, rule.id, one.place, (rule.id,) if one.caught else ())
    if not tried:
        yield TextTrial(subject, rule.id, "", not_broken="the folder has not both sides")


def _present(facts: Facts, instance: TextInstance) -> bool:
    tables = facts.tables()
    for need in instance.needs:
        schema, _, rest = need.partition(".")
        name, _, column = rest.partition(".")
        columns = tables.get(f"{schema}.{name}")
        if columns is None or (column and column not in columns):
            return False
    return True


def _trial(
    subject: str,
    folder: Folder,
    rule: TextRule,
    place: str,
    breaks: Sequence[str],
    before: set[tuple[str, str]],
) -> TextTrial:
    facts = folder.facts
    facts.connection.execute("BEGIN")
    try:
        if not sum(_run(facts, statement) for statement in breaks):
            return TextTrial(subject, rule.id, place, not_broken="the facts have nothing to break")
        changed = changed_tables(breaks)
        rules = affected(changed, rule)
        found = find(_part(folder, changed), rules, WITHOUT_EXAMPLES)
        fired = sorted({one.rule for one in found if _key(one) not in before})
        if rule.id not in fired and rule.id in {one.rule for one in found}:
            return TextTrial(subject, rule.id, place, not_broken="the folder has it already")
        return TextTrial(subject, rule.id, place, tuple(fired), tuple(rule.also or ()))
    finally:
        facts.connection.execute("ROLLBACK")


def _run(facts: Facts, statement: str) -> int:
    """Run a statement; the number of rows that it changed."""
    row = facts.connection.execute(statement).fetchone()
    return int(row[0]) if row else 1


def _key(finding: Finding) -> tuple[str, str]:
    return finding.rule, finding.place


def changed_tables(breaks: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Schema and name of the tables that some statements change. Raises ``ValueError``."""
    changed = set()
    for statement in breaks:
        found = _CHANGED.match(statement.strip())
        if found is None:
            raise ValueError(f"cannot tell what this changes: {statement}")
        changed.add((found.group(1), found.group(2).strip('"')))
    return frozenset(changed)


def affected(changed: Iterable[tuple[str, str]], rule: TextRule) -> list[TextRule]:
    """The rules that a change can wake: those that read one of the tables, and the rule itself."""
    tables = list(changed)
    return [
        other
        for other in load_text_rules().values()
        if other.id == rule.id or any(_reads(other, *table) for table in tables)
    ]


def _reads(rule: TextRule, schema: str, name: str) -> bool:
    if rule.check is not None:
        return schema in reads(rule.check)
    if schema == "unit":
        return False
    whole = (schema, name) in {("trace", "event"), ("trace", "process"), ("trace", "shape")}
    table = r"trace\." if whole else rf'\b{schema}\."?{name}\b'
    shown = re.compile(rf'{table}|\bcsv\."?{name}\b' if schema == "raw" else table)
    return any(
        shown.search(" ".join((one.query, one.table, *one.needs))) for one in instances(rule)
    )


def _part(folder: Folder, changed: Iterable[tuple[str, str]]) -> Folder:
    """The folder without CSV files whose cells have not changed, if only cells have."""
    names = {name for schema, name in changed if schema == "raw"}
    if not names or any(schema == "unit" for schema, _ in changed):
        return folder
    kept = [number for number in folder.csv if folder.files[number].name in names]
    return replace(folder, csv={number: folder.csv[number] for number in kept})


def _structural_breaks(folder: Folder, rule: TextRule) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Breaks of a check: those of its document, or made of the spec for cells and their order."""
    if rule.breaks:
        yield "", rule.breaks
    elif rule.check and rule.check.startswith("cell-"):
        yield from _cell_breaks(folder, rule)


def _cell_breaks(folder: Folder, rule: TextRule) -> Iterator[tuple[str, tuple[str, ...]]]:
    """One bad cell in one column of each CSV file."""
    for number, at in folder.at.items():
        name = folder.files[number].name
        writer = text_catalog().writers[at.writer]
        columns = columns_of(name, folder.facts.columns(f"raw.{name}")[len(PLACE) :], writer.id)
        spec = text_catalog().csv[name]
        ordering = {key.column for key in spec.order_by(writer.id, at.family)}
        for text, column in columns:
            checks = checks_of(text, column, writer, at.family)
            wanted = [one for one in checks if f"cell-{one.fault}" == rule.check]
            fits = rule.erratum is None or rule.erratum in column.errata
            other = rule.erratum is None and any(
                one.check == rule.check and one.erratum in column.errata
                for one in load_text_rules().values()
                if one.erratum
            )
            if wanted and fits and not other and text not in ordering:
                bad = _bad_cell(wanted[0], column.format_by(writer, at.family))
                table = f"raw.{quoted(name)}"
                cell = quoted(text)
                allowed = ", ".join(map(text_literal, (*column.sentinels, "N/A", "")))
                sound = f"rtrim({cell}, chr(9)) NOT IN ({allowed})"
                yield (
                    f"{name}: {text}",
                    (
                        f"UPDATE {table} SET {cell} = {bad} WHERE file = {number} AND row = "
                        f"(SELECT min(row) FROM {table} WHERE file = {number} AND {sound})",
                    ),
                )
                break


def _bad_cell(check: CellCheck, form: NumberFormat | None) -> str:
    """SQL for a value that a check refuses, made of a sound one."""
    cell = quoted(check.name)
    tab = " || chr(9)" if check.column.tab else ""
    bare = f"rtrim({cell}, chr(9))"
    beyond = check.column.minimum if check.column.minimum is not None else check.column.maximum
    step = -1 if check.column.minimum is not None else 1
    places = form.decimals if form and form.style == "fixed" and form.decimals else 0
    far = f"{(beyond or 0) + step}{'.' * bool(places)}{'0' * places}"
    return {
        "type": text_literal("three") + tab,
        "sentinel": text_literal("N/A" if "N/A" not in check.column.sentinels else ""),
        "tab": bare,
        "format": f"{bare} || CASE WHEN contains({bare}, '.') THEN '' ELSE '.' END || '00005'{tab}",
        "range": text_literal(far) + tab,
        "member": text_literal("nonsense"),
    }[check.fault]
