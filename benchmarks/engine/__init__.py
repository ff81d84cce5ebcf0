"""The speed of the engine beside other Python packages for the same work."""
