"""The verb that shows binary files."""
