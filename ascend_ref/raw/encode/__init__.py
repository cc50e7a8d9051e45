"""A capture as the raw files of ``PROF_*``."""
