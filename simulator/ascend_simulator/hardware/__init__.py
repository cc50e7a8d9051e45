"""Machines: what chips compute, and how they are joined."""

from .model import Chip, Link, Machine, Transport, machine, path, products

__all__ = ["Chip", "Link", "Machine", "Transport", "machine", "path", "products"]
