"""The parsers: each reads one kind of raw file and makes its intermediate files."""
