"""The layers of a timeline, each as a stream of its events."""
