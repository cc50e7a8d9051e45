"""What a rule judges, one folder for each medium: a database, text deliverables, blocks, an API."""
