"""JSON documents of the framework's exporter: communication.json and communication_matrix.json."""

from __future__ import annotations

from .write import write_documents as write_documents
