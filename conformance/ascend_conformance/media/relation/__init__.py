"""Relations between entities of the recording, judged in every medium that shows them."""
