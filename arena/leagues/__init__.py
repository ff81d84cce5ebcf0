"""A league: many bots, of which those two meet next that have met least; ``python -m arena league``.

- `schedule`: which three bots meet next, and on which walls
- `games`: the games of every three bots that have met
- `store`: the file of a league, and the games that are not in it yet
- `standing`, `league`: what is known of a bot and of all, and their tables
- `standings`: computes it from the games
- `run`: plays a league
- `api`: `league`, for Python callers
- `cli`: the command line; `running` does what it says
"""
