"""Positions: a hand with all that its seat sees, written as short texts, and the view that it is.

- `notation`: reads rivers and melds
- `position`: the fields of a position
- `history`: the messages that lead there, where there are rivers
- `middle`: lays out a position without rivers
- `views`: the view, what a bot gets: with rivers, byte for byte as in the game, but for the order of own draws
"""
