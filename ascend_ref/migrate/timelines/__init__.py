"""Timelines of one generation of a writer as those of another."""
