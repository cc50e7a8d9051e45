"""What the descriptions of all media share: how a fact is written down, bounded and found."""
