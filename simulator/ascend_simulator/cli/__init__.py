"""The verbs ``scenarios``, ``simulate`` and ``specimen`` of the command ``ascend-ref``."""
