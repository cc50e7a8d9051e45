"""The verbs ``check``, ``explain`` and ``rules`` of the command ``ascend-ref``."""
