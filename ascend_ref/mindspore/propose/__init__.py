"""What the proposers of MindSpore's viewer advise, from the answers of analysers."""
