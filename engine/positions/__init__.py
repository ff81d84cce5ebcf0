"""Positions: a hand with all that its seat sees, written as short texts, and the view that it is.

`notation` reads rivers and melds, `position` the fields of a position, `history` makes the messages that lead there,
and `views` the view: what a bot gets, byte for byte as in the game, but for the order of the seat's own draws.
"""
