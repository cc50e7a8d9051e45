"""Machines: what chips compute, and how they are joined."""

from .model import machine as machine
from .model import path as path
from .model import products as products
