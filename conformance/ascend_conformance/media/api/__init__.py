"""The reference client: asks any server of the MindStudio Insight API about a file it knows."""
