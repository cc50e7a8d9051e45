"""Runs the rules on one database: where the data is, in few passes, in flat memory."""
