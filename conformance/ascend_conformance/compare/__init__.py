"""One comparison: rows of two showers of the recording matched, and what both show compared."""
