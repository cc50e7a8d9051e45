"""What devices, runtime and frameworks write before any exporter: ``PROF_*`` and ``FRAMEWORK``."""
