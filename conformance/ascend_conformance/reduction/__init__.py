"""The smallest profile that still shows what a profile shows."""
