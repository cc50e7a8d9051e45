"""The raw files of ``PROF_*`` as a capture."""
