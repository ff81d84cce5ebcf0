"""The time from a clone to the first table."""
