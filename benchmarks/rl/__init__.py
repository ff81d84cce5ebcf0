"""What acting and learning of `agents.rl` cost."""
