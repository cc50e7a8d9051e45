"""What every judge shares: the limit on work, and how rules are tried."""
