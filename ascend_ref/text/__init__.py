"""CSV files of msprof and of the PyTorch adapter, written and read."""

from __future__ import annotations

from .write import write_csv_files as write_csv_files
