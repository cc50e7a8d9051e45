"""Profiles of one state of the formats as profiles of another, and what that loses."""
