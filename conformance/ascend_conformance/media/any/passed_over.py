"""Databases of a profile under names that no reader looks for: reported, and not judged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw

from ascend_ref.atomic import is_hidden
from ascend_ref.db.carrier import carrier_of_name, identify_carrier
from ascend_ref.db.header import UnreadableDatabase
from ascend_ref.db.introspect import describe
from ascend_ref.db.open import open_readonly
from ascend_ref.sniff import is_sqlite
from ascend_spec import catalog

from ...engine.candidate import Candidate, Listing
from .. import NO_PROFILE
from .no_profile import NoProfile
from .other import other_file

PASSED_OVER = "passed over"
"""What the rule finds."""

WORDS = "tables of a profile under a name that no reader looks for; check the file itself"


def passed_over_in(listing: Listing) -> Iterator[Candidate]:
    """The databases in a folder that have tables of a profile, but no name of one."""
    for path in listing.paths:
        if path.suffix == ".db" and not is_hidden(path.name) and is_passed_over(path):
            yield Candidate(NO_PROFILE, path, details=NoProfile(WORDS, PASSED_OVER))


def is_passed_over(path: Path) -> bool:
    """Whether a file is such a database."""
    if carrier_of_name(path.name)[0] is not None or not is_sqlite(path):
        return False
    if other_file(path) is not None:
        return False
    try:
        with closing(open_readonly(path)) as connection:
            identify_carrier(describe(connection), connection, path, catalog())
    except (UnreadableDatabase, apsw.Error, OSError):
        return False
    return True
