"""How many games the server carries, measured against a bare asyncio echo server."""
