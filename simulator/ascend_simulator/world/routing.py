"""Which rank sends how many tokens to whose experts: one draw for each layer, pass and step.

The kernels that work on the tokens and the operators that exchange them ask here, so that what
ranks send is what arrives, and what arrives is what is worked on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ascend_ref.capture import Integers

from ..draws import Draws
from ..program.model import Routed
from .layout import Layout, Tokens

UNEVEN = 4
"""Senders to one rank differ by up to one part in so many of the least that any sends."""


def variants_of(seed: int, tokens: Tokens, load: int, steps: int, variants: int) -> Integers:
    """Which variant of a load a rank has in each step. Two neighbours have mirrored ones."""
    if tokens.even:
        return np.zeros(steps, np.int64)
    words = Draws(seed, "load", tokens.draw, load).raw(steps)
    drawn = (words % np.uint64(variants)).astype(np.int64)
    return variants - 1 - drawn if tokens.mirrored else drawn


def rows_of(seed: int, tokens: Tokens, routed: Routed, steps: int) -> Integers:
    """How many rows the experts of a rank get in each step."""
    chosen = variants_of(seed, tokens, routed.load, steps, len(routed.rows))
    return np.array(routed.rows, np.int64)[chosen]


def routes(seed: int, layout: Layout, group: Sequence[int], routed: Routed, steps: int) -> Integers:
    """Rows that each rank of a group sends to the experts of each; shape (steps, ranks, ranks).

    Every rank sends as many in all; each receives what :func:`rows_of` says.
    """
    own = [layout.tokens(rank) for rank in group]
    arriving = np.stack([rows_of(seed, tokens, routed, steps) for tokens in own], axis=-1)
    ranks = len(group)
    found = np.repeat((arriving // ranks)[:, None, :], ranks, axis=1)
    # What remains goes round the senders, so that each sends as much of it.
    rest = arriving % ranks
    begin = np.cumsum(rest, axis=1) - rest
    turn = (np.arange(ranks)[:, None] - begin[:, None, :]) % ranks
    found += turn < rest[:, None, :]
    # Where one of two senders sends more to one of two ranks, the other sends as much less.
    half, most = ranks // 2, int(found.min()) // UNEVEN
    draws = Draws(seed, "routes", own[0].draw, routed.load)
    more = draws.between(-most, most, steps * half * half).reshape(steps, half, half)
    for sender, receiver in ((0, 0), (0, 1), (1, 0), (1, 1)):
        part = found[:, sender : 2 * half : 2, receiver : 2 * half : 2]
        part += more if sender == receiver else -more
    return found.transpose(0, 2, 1) if routed.back else found
