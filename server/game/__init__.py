"""One game in play: turn loop, seats, clocks, fallback players, log."""
