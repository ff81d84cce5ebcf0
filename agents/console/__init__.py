"""A table in the terminal: ``python -m agents.console`` lets a person play, at a server or against two bots.

By hand, as Textual, which was tried, would spare half of `terminal` and `keys` and little else: the game would run in a
thread beside its loop, start later, and need packages that nothing else here uses. `rich` draws and measures texts,
`asyncio` waits for keys, signals and other threads.

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
