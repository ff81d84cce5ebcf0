"""The game server: mjai bots join over TCP or WebSocket, wait in rooms and play games.

Start with `running` (everything put together) and `lobby` (connections, rooms and games).

- `settings`: every flag and variable; `access`: tokens and limits
- `api`: the HTTP API, with the events for spectators; `app`: the application with its WebSockets
- `store`: finished games, players, ratings, rooms and tokens in a database; `migrations`: its versions
"""
