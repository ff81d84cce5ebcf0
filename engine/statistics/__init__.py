"""What happened in the rounds of games, for the statistics of bots and players.

- `rounds`: the fold over the event log of a finished round: a row of numbers for each seat
- `hands`: hands followed through the event log; `waits`: the shapes of waits
- `counts`: what the arena and the server count from the rows

The arena's statistics (`arena.tallies`), those of a server's players (`server.counting`) and the rows of Parquet files
(`arena.parquet`) all come from these rows.
"""
