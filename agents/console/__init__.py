"""A table in the terminal: ``python -m agents.console`` lets a person play, at a server or against two bots.

Written by hand: Textual would replace half of `terminal` and `keys`, but needs five more packages, and the game would
run in a thread next to its event loop. `rich` draws and measures texts; `asyncio` waits for keys, signals and threads.

- `tiles`: tiles in colours, and lines of them that fit a width
- `moves`: the numbered legal moves of a position
- `telling`: what happens, in words
- `table`: the picture of a table, drawn from a view
- `keys`: the bytes of a keyboard read as keys
- `terminal`: the terminal's modes, signals and size; the picture is written there
- `screen`: what is shown, and what each key does
- `person`: the person as a mjai bot
- `online`, `offline`: a game at a server, and one in this process
- `playing`: all of these together
"""
