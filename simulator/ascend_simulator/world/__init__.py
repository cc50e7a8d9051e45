"""The synthetic NPU: lays programs out in time, for all ranks at once and then for each rank."""
