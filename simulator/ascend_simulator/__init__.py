"""A synthetic NPU: profiles whose truth is known."""
