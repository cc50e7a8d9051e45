"""The sampled tables that raw files hold as they are, without a difference to a sample before."""

WRITTEN = ("ACC_PMU", "AICORE_FREQ", "NPU_MEM", "NPU_MODULE_MEM", "SOC_BANDWIDTH_LEVEL")
"""Those that are written and read; of the others it is said that they are not."""

OWNERS = ("app", "device")
"""Whose memory a sample of NPU_MEM is, by number (raw-prof 4.8)."""

APP = 0
