"""Pictures of profiles: ``draw.draw`` makes one of a step, for ``ascend-ref plot`` and programs.

Nothing is imported here, so that the command starts fast.
"""
