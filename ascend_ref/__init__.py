"""Reference encoder and decoder of Ascend NPU profiles."""

__version__ = "0.1.0"
