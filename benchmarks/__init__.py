"""Benchmarks of the engine, the server and BERT: ``python -m benchmarks.engine``, ``.server``, ``.bert``.

Each measures both sides of a ratio in one run, in turn, so that a change of the machine's speed affects both.
"""
