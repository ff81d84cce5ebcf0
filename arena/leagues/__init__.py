"""A league of many bots: the two that have met least meet next; ``python -m arena league``.

The schedule, the ratings and the standings are those of all contests (`engine.contests`).

- `games`: the games of every three bots that have met
- `store`: the file of a league, and the games that are not in it yet
- `standing`, `league`: the standings, and their tables
- `standings`: computes them from the games
- `run`: plays a league
- `api`: `league`, for Python callers
- `cli`: the command line; `running` does what it says
"""
