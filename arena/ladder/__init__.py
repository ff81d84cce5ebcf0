"""The ladder: every bot plays every other on shared walls, and a page ranks them; ``python -m arena ladder``.

- `schedule`: which three bots meet, and in how many games
- `standings`: the results of all these games put together, by bot and by pair
- `page`: the standings as Markdown
- `cli`: the command line
"""
