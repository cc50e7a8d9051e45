"""Every rule asked of a folder, several at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from queue import SimpleQueue
from typing import TypeAlias

from ...engine.asking import Asked
from ...engine.relations.judge import groups
from ...engine.relations.rule import Relation
from ...finding import Finding
from ...options import Options
from .agreeing import ask_agreements
from .checks import ask_checks
from .folder import Folder
from .queries import ask, nothing_asked, tables_with_rows
from .relations import ask_relations
from .rules import TextRule
from .views import ShownByFiles

Job: TypeAlias = Callable[[Folder], Asked[Finding]]
"""Asks some rules of a folder, by any connection to its facts."""


def ask_all(
    folder: Folder,
    rules: Sequence[TextRule],
    options: Options,
    relations: Sequence[Relation] = (),
) -> Asked[Finding]:
    """Every rule asked, in as many threads as are allowed.

    Each query has one thread: most are too short to be shared out, and there are hundreds.
    """
    jobs = list(_jobs(folder, rules, options))
    if relations:
        shown = ShownByFiles(folder.facts, folder.csv_writers)
        jobs += [
            partial(ask_relations, relations=together, options=options, shown=shown)
            for together in groups(relations, shown)
        ]
    if options.workers == 1:
        return _together(job(folder) for job in jobs)
    with ExitStack() as stack:
        idle: SimpleQueue[Folder] = SimpleQueue()
        connections = [stack.enter_context(folder.facts.another()) for _ in range(options.workers)]
        for facts in connections:
            idle.put(replace(folder, facts=facts))

        def run(job: Job) -> Asked[Finding]:
            other = idle.get()
            try:
                return job(other)
            finally:
                idle.put(other)

        pool = stack.enter_context(ThreadPoolExecutor(options.workers))
        running: list[Future[Asked[Finding]]] = [pool.submit(run, job) for job in jobs]
        try:
            return _together([one.result() for one in running])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for facts in connections:
                facts.connection.interrupt()
            raise


def find(folder: Folder, rules: Sequence[TextRule], options: Options) -> list[Finding]:
    """The findings of some rules on facts as they are now, without their places in the text.

    A rule that fails is one of them.
    """
    asked = _together(job(folder) for job in _jobs(folder, rules, options))
    return [*asked.found, *asked.failures.findings("")]


def _jobs(folder: Folder, rules: Sequence[TextRule], options: Options) -> Iterator[Job]:
    """The rules in parts. Agreements share views and derived tables and are therefore one part."""
    agreements = [rule for rule in rules if rule.search.agreement]
    if agreements:
        yield partial(ask_agreements, rules=agreements, options=options)
    checks = [rule for rule in rules if rule.search.check]
    if checks:
        yield partial(ask_checks, rules=checks, options=options)
    # Windows, which sort, take longest and should not be waited for.
    queries = [rule for rule in rules if rule.row or rule.select]
    tables = tables_with_rows(folder.facts)
    for rule in sorted(queries, key=lambda rule: " OVER " not in (rule.select or "")):
        yield partial(ask, rules=(rule,), options=options, tables=tables)


def _together(answers: Iterable[Asked[Finding]]) -> Asked[Finding]:
    every = nothing_asked()
    for one in answers:
        every.add(one)
    return every
