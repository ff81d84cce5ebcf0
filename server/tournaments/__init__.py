"""Tournaments: everybody plays everybody on the same walls, by a schedule.

- `plan`: what is to be played, as an admin asks for it, and the schedule that follows from it
- `tournament`: a tournament that is not over: a room, where a game starts as soon as its three entrants are free
- `document`: the standings, and the result in the format of the arena's leagues
- `tournaments`: those of a server: they are created, restored, cancelled and stored
"""
