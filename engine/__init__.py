"""The rule engine of three-player riichi mahjong: tables, scoring, shanten, mjai messages and game records.

Begin with `engine.game.Game` (one game, for Python callers) or `engine.tables.Tables` (many games, in batches).

==================================== ==================================================================================
tiles, actions, events, ryukyoku     numberings: tiles, actions, logged events, ways a round ends without a win
rules                                the rules that can be switched, and the presets
table, view                          TABLE, the record that holds a game, and what one seat may see of it
wall, melds, legal, turn, settle     the rules: draws, calls, legal actions, the course of a turn, payments
kernels, compiling                   the rules as compiled functions for Python, and how they are compiled
hand, shanten, shanten_tables        the concealed hand, shanten, waits and ukeire
rng, seeds                           random numbers in compiled code, derived seeds
scoring/                             yaku, han, fu and points of a winning hand
mjai/                                mjai messages: events, actions, dialects, the state of a player
records/                             game records: read, write, replay, validate, show
common/                              what the command lines of all packages share
==================================== ==================================================================================

The engine imports nothing from `agents`, `arena` or `server`.
"""
