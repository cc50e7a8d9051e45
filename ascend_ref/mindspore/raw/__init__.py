"""MindSpore's raw files both ways: records by their declarations, lines by their grammar."""
