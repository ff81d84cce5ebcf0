"""What a decision of the bot `search` costs."""
