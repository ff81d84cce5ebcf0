"""A league: many bots, of which those two meet next that have met least; ``python -m arena league``.

- `schedule`: which three bots meet next, and on which walls
- `games`: the games of every three bots that have met
- `store`: the file of a league, and the games that are not in it yet
- `standings`: ratings, placements and the cross table
- `run`: plays a league
- `columns`, `report`: print the standings
- `api`: `league`, for Python callers
- `cli`: the command line; `running` does what it says
"""
