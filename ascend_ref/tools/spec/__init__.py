"""The spec handed to others: as JSON Schema, SQL, C, Markdown, and as pages to read."""
