"""What players' statistics sites show, of every bot: counted from the event log of each round.

`names` has the table of all tallies, `rounds` the kernel that counts them, `waits` the shapes of waits, `columns` the
statistics that are computed from them, `times` how long the bots take.
"""
