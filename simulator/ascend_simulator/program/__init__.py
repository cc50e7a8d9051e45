"""What one rank does in one step: operators, kernels, collectives, in the order of launch."""

from .build import build
from .model import Program

__all__ = ["Program", "build"]
