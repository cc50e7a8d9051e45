"""What the tests of the engine share: hostile values, and sessions that are put back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial

from hypothesis import HealthCheck, settings

from ascend_conformance.media.db.selftest import make_specimen, open_specimen
from ascend_conformance.media.db.session import Session
from ascend_spec.db.model import Carrier

Value = int | float | str | bytes | None

quick = partial(
    settings,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

LOWEST, HIGHEST = -(2**63), 2**63 - 1
HOSTILE: tuple[Value, ...] = (
    None,
    0,
    -1,
    1,
    2**31,
    2**32 - 1,
    2**32,
    2**48,
    2**53 + 1,
    HIGHEST,
    LOWEST,
    1.5,
    -0.5,
    2.0,
    9.3e18,
    1e308,
    float("inf"),
    float("-inf"),
    "",
    "7",
    "n/a",
    "1e3",
    b"",
    b"\x00\xff",
)


@contextmanager
def undone(session: Session) -> Iterator[Session]:
    """A session on the same database that knows nothing yet; all changes are taken back."""
    session.connection.execute("SAVEPOINT trial")
    try:
        yield replace(session)
    finally:
        session.connection.execute("ROLLBACK TO trial; RELEASE trial")


@cache
def clean(carrier: Carrier, revision: str) -> Session:
    return open_specimen(make_specimen(carrier, revision))
