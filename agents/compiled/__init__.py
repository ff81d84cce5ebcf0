"""Helpers for compiled bots: functions to call from a bot's own `engine.compiling.inner` and `kernel` functions.

`menu` reads the legal actions of a view, `unseen` counts tiles the viewer does not see, `dora` what each kind counts,
`kan` finds concealed kans that cost nothing, `melds` tries calls and kans, `seats` finds riichi and rank.
"""
