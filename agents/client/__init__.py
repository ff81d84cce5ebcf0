"""The mjai client: ``python -m agents.client BOT URL`` plays a bot at a mjai server.

`cli` is the command line; `playing` connects and reconnects; `session` plays games over a connection; `connection` and
`websocket` are the transports. `example` is a whole bot without any of this, to start your own from.
"""
