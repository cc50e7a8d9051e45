"""The database codec: opening, describing, identifying, reading and writing profile databases."""
