"""Of which epoch a file is: by what its payloads obey."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import jsonschema_rs

from ascend_spec import bin_catalog, per_spec

ERRORS = 10_000
"""Errors of one payload that are looked at."""


@per_spec
def _signs() -> Mapping[str, Mapping[int, jsonschema_rs.Draft202012Validator]]:
    return {
        epoch.id: {
            code: jsonschema_rs.Draft202012Validator(dict(form))
            for code, form in epoch.signs.items()
        }
        for epoch in bin_catalog().epochs
    }


def signs_borne(code: int, value: Any) -> list[str] | None:
    """The epochs whose sign a payload of a block type bears, oldest first; ``None`` for a type of
    which there are no signs.
    """
    signs = {epoch: forms[code] for epoch, forms in _signs().items() if code in forms}
    return [epoch for epoch, form in signs.items() if form.is_valid(value)] if signs else None


def epoch_of(payloads: Iterable[tuple[int, Any]]) -> str:
    """The epoch of values by the types of their blocks, in all of which the newest schema is asked
    whether it finds no more than that of their signs.
    """
    newest = bin_catalog().epochs[-1].id
    return elected(
        (borne, not borne or _faults(code, value, newest) <= _faults(code, value, borne[0]))
        for code, value in payloads
        if (borne := signs_borne(code, value)) is not None
    )


def elected(votes: Iterable[tuple[Sequence[str], bool]], out: Collection[str] = ()) -> str:
    """The epoch whose signs most blocks bear; of equals the newest of all, else the oldest.

    votes: of each block the epochs whose signs it bears, and whether the newest schema finds no
    more in it than that of its sign: then it speaks for the newest epoch as well. ``out``: epochs
    that it cannot be.
    """
    known = [epoch.id for epoch in bin_catalog().epochs]
    counts = dict.fromkeys([known[-1], *known], 0)
    for borne, as_new in votes:
        for epoch in {*borne, *(known[-1:] if as_new else ())}:
            counts[epoch] += 1
    return max(counts, key=lambda epoch: -1 if epoch in out else counts[epoch])


@per_spec
def _validator(code: int, epoch: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(bin_catalog().payload_schema(code, epoch))


def _faults(code: int, value: Any, epoch: str) -> set[tuple[object, ...]]:
    """What a schema finds wrong, by place and keyword; of members that are missing, which."""
    errors = islice(_validator(code, epoch).iter_errors(value), ERRORS)
    return {
        (
            *("*" if isinstance(one, int) else one for one in error.instance_path),
            *error.schema_path[-1:],
            error.message if error.schema_path[-1:] == ["required"] else "",
        )
        for error in errors
    }
