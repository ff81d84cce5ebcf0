"""Benchmark of the arena's statistics: ``python -m benchmarks.arena``."""
