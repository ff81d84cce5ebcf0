"""The statistics that sites show for players, for every bot: counted from the event log of each round.

- `names`: the table of all tallies, which are integers that add up over games; `labels`: categories of
  blocks of them
- `rounds`: the kernel that counts them; `waits`: the shapes of waits
- `observer`: counts the games of a chunk; tallies as a short text
- `columns`: the statistics that are computed from the tallies, in groups
- `times`: how long the bots take for their decisions
- `report`: prints them; `page`: the tables of docs/statistics.md
"""
