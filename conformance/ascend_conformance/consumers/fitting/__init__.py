"""Profiles written so that one reader shows them right: behind ``export --for``."""
