"""What is true of a kernel that ran."""

from .document import FORMAT, kernel_truth, truth_schema

__all__ = ["FORMAT", "kernel_truth", "truth_schema"]
