"""The formats that things of the spec are exported in, each with the ending of file names."""

FORMATS = {
    "json-schema": ".schema.json",
    "ddl": ".sql",
    "c-header": ".h",
    "markdown": ".md",
    "openapi": ".openapi.json",
}
JSON_SCHEMA = next(iter(FORMATS))
OPENAPI = "openapi"
