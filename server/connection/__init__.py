"""Connections of bots: the transports (TCP, WebSocket) and the mjai session they carry. Games are `GamePort` here."""
