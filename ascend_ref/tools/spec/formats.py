"""The formats that a database is exported in, each with the ending of file names."""

FORMATS = {"json-schema": ".schema.json", "ddl": ".sql", "c-header": ".h", "markdown": ".md"}
JSON_SCHEMA = next(iter(FORMATS))
