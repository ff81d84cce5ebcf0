"""What self-play and learning of the bot `selfplay` cost."""
