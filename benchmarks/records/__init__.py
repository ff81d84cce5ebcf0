"""How fast records are validated."""
