"""What is lost of a complete session before it is written, so that every form lacks the same."""

from __future__ import annotations

from .faults import Loss as Loss
from .faults import lose as lose
