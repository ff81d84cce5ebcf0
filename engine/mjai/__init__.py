"""mjai, the JSON protocol between servers and bots of riichi mahjong, for three players.

The canonical form is the dialect mjai3p. docs/protocol.md describes the protocol for authors of bots.

- `keys`: keys of messages; what a kind of value is, how it is checked and read
- `kinds`: the kinds of values of a game
- `connection`: limits that server and clients share, and the messages of a connection: hello, join, resumed, error
- `schema`: the table of messages: keys in order, kinds, visibility, keys written by each dialect
- `messages`: building messages: tile names, key order, hiding, start_game, start_kyoku
- `dialects`: canonical messages written in a dialect
- `reading`: messages of any dialect read into canonical form
- `bot_checks`: checks of what a bot sends: join and replies
- `bot_messages`: the same, from bytes
- `round_events`: packed events of a round -> messages
- `results`: hora and ryukyoku as human-readable text
- `actions`: action numbers <-> messages
- `possible_actions`: possible_actions and cannot_dahai, the check that a reply is legal, the safe default
- `player_state`: a seat's view, rebuilt from the messages it receives
- `view_updates`: the compiled part of `player_state`: one event applied to a view by the rules
- `protocol_tables`: the generated tables of docs/protocol.md
"""
