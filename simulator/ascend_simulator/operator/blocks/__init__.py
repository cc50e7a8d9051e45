"""The payloads of ``visualize_data.bin``, each from the same kernel that ran."""
