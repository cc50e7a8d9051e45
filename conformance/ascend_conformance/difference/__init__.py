"""Two sides of files, compared by meaning: what is missing, added or different, and where."""
