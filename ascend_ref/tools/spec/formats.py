"""The formats that a database is exported in: by the name of each, which is also that of the module
of this folder that writes it (``export_c_header`` in ``c_header``), the ending of file names.
"""

FORMATS = {"json-schema": ".schema.json", "ddl": ".sql", "c-header": ".h", "markdown": ".md"}
JSON_SCHEMA = next(iter(FORMATS))
