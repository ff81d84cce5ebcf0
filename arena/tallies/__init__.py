"""The statistics that sites show for players, for every bot: counted from the rows of `engine.statistics.rounds`.

- `counts`: the table of all tallies, which are integers that add up over games; `labels`: categories of
  blocks of them
- `observer`: keeps the rounds of a chunk; tallies as a short text
- `columns`: the statistics that are computed from the tallies, in groups
- `times`: how long the bots take for their decisions
- `report`: prints them; `page`: the tables of docs/statistics.md
"""
