"""The judge of profile databases: recognised, asked in SQL where the data lies, broken by SQL."""
