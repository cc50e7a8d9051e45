"""Every rule asked of a folder, several at the same time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from queue import SimpleQueue
from typing import Protocol

from ...engine.asking import Asked
from ...engine.relations.rule import Relation
from ...finding import Finding
from ...options import Options
from .agreeing import ask_agreements
from .checks import structural_findings
from .folder import Folder
from .queries import Tables, ask, nothing_asked, tables_with_rows
from .relations import ask_relations, shown_by
from .rules import TextRule
from .views import ShownByFiles


class Way(Protocol):
    """How some rules are asked."""

    def __call__(
        self, folder: Folder, rules: Sequence[TextRule], options: Options, /
    ) -> Asked[Finding]:
        """The answers."""


def ask_all(
    folder: Folder,
    rules: Sequence[TextRule],
    options: Options,
    relations: Sequence[Relation] = (),
) -> Asked[Finding]:
    """Every rule asked, in as many threads as are allowed.

    Each query has one thread: most are too short to be shared out, and there are hundreds.
    """
    jobs = list(_jobs(rules, tables_with_rows(folder.facts)))
    if relations:
        shown = shown_by(folder)
        shown.views()  # made before the threads, for all of them
        jobs += [(partial(_relation, relation=one, shown=shown), ()) for one in relations]
    if options.workers == 1:
        return _together(way(folder, part, options) for way, part in jobs)
    with ExitStack() as stack:
        idle: SimpleQueue[Folder] = SimpleQueue()
        connections = [stack.enter_context(folder.facts.another()) for _ in range(options.workers)]
        for facts in connections:
            idle.put(replace(folder, facts=facts))

        def run(way: Way, part: Sequence[TextRule]) -> Asked[Finding]:
            beside = idle.get()
            try:
                return way(beside, part, options)
            finally:
                idle.put(beside)

        pool = stack.enter_context(ThreadPoolExecutor(options.workers))
        running: list[Future[Asked[Finding]]] = [pool.submit(partial(run, *job)) for job in jobs]
        try:
            return _together([one.result() for one in running])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for facts in connections:
                facts.connection.interrupt()
            raise


def find(folder: Folder, rules: Sequence[TextRule], options: Options) -> list[Finding]:
    """The findings of some rules on facts as they are now, without their places in the text."""
    jobs = _jobs(rules, tables_with_rows(folder.facts))
    return _together(way(folder, part, options) for way, part in jobs).found


def _jobs(rules: Sequence[TextRule], tables: Tables) -> Iterator[tuple[Way, Sequence[TextRule]]]:
    """The rules in parts. Agreements share views and derived tables and are therefore one part."""
    agreements = [rule for rule in rules if rule.search.agreement]
    if agreements:
        yield ask_agreements, agreements
    checks = [rule for rule in rules if rule.search.check]
    if checks:
        yield _check, checks
    # Windows, which sort, take longest and should not be waited for.
    queries = [rule for rule in rules if rule.row or rule.select]
    yield from ((partial(ask, tables=tables), [rule]) for rule in sorted(queries, key=_is_short))


def _is_short(rule: TextRule) -> bool:
    return " OVER " not in (rule.select or "")


def _check(folder: Folder, rules: Sequence[TextRule], options: Options) -> Asked[Finding]:
    """The rules that are checks."""
    asked = nothing_asked()
    asked.ran = {rule.id for rule in rules}
    asked.places = len(rules)
    asked.found += structural_findings(folder, rules, options, asked.failures)
    return asked


def _relation(
    folder: Folder,
    _rules: Sequence[TextRule],
    options: Options,
    relation: Relation,
    shown: ShownByFiles,
) -> Asked[Finding]:
    return ask_relations(folder, [relation], options, shown)


def _together(answers: Iterable[Asked[Finding]]) -> Asked[Finding]:
    every = nothing_asked()
    for one in answers:
        every.add(one)
    return every
