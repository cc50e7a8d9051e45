"""Judging text deliverables: CSV files, timelines and JSON documents of one output folder."""
