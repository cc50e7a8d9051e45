"""Rules, checks, mutations and reports for Ascend NPU profiles."""
