"""Machines: what chips compute, and how they are joined."""

from .load import machine, products
from .model import Chip, Link, Machine, Transport, path

__all__ = ["Chip", "Link", "Machine", "Transport", "machine", "path", "products"]
