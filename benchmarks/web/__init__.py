"""What the web pages cost: those who look at them, and the games that others look at."""
