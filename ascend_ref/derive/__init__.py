"""Derived figures, each formula once, as pure functions."""
