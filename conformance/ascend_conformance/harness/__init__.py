"""Exporters under test: run on simulated recordings, and compared with what is true of them."""
