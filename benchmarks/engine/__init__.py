"""The speed of the engine compared with other Python packages for the same work."""
