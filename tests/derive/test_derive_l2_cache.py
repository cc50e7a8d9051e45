"""Rates of the cache, and how the real file shows them."""

from __future__ import annotations

import numpy as np
from real_text import rows_of

from ascend_ref.derive.decimals import Form, number_texts
from ascend_ref.derive.traffic import cache_rates


def test_cache_rates_have_six_decimals() -> None:
    request = np.array([8, 3, 100_000, 0, 7])
    found = cache_rates(np.array([1, 1, 41, 5, 21]), request)
    assert found.tolist() == [0.125, 0.333333, 0.00041, 0.0, 3.0]
    shown_rates = [row["Victim Rate"] for row in rows_of("l2_cache")]
    rates = np.array([float(text) for text in shown_rates])
    assert "4.1e-05" in shown_rates
    assert number_texts(rates, Form.REPR, places=6).to_pylist() == shown_rates
