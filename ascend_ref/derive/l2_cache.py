"""How well a kernel used the L2 cache: the rates of l2_cache (text-outputs.md 3.2)."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture.batch import Integers, Reals

from .decimals import python_round

PLACES = 6


def cache_rates(part: Integers, request: Integers) -> Reals:
    """Hits or victims per request, six decimals; 0 without requests.

    On stars chips the hits cannot be counted and the file says N/A, and victims may outnumber the
    requests.
    """
    rates = np.zeros(len(part))
    np.divide(part, request, out=rates, where=request != 0)
    return python_round(rates, PLACES)
