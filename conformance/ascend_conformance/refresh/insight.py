"""Ascend/msinsight: the types of blocks that the viewer reads of ``visualize_data.bin``."""

from __future__ import annotations

from . import initialisers
from .checkout import Checkout
from .stated import Stated, StatedNames, Unreadable

SOURCE = "upstream-msinsight"
PROTOCOL = "server/**/source/protocol/SourceProtocol.h"
TYPES = "DataTypeEnum"
CODES = range(0x100)
"""A type is one byte; members above are for the viewer alone."""


def recognises(checkout: Checkout) -> bool:
    """Whether the folder holds the sources of the viewer."""
    return any(checkout.files(PROTOCOL))


def read(checkout: Checkout) -> Stated:
    """What the sources state; raises :class:`Unreadable` where their form is another one."""
    file = checkout.only(PROTOCOL)
    try:
        found = initialisers.enumeration(checkout.text(file), TYPES)
    except ValueError as problem:
        raise Unreadable(f"{file}: {problem}") from None
    if found is None or not isinstance(found.value, tuple):
        raise Unreadable(f"{file}: no enum {TYPES}")
    members = {}
    for pair in found.value:
        match pair:
            case (str(name), int(code)) if code in CODES:
                members[code] = name
    return Stated(
        source=SOURCE, blocks=StatedNames(TYPES, members, f"{checkout.name(file)}:{found.line}")
    )
