"""Benchmark of the bots `linear` and `softmax`: ``python -m benchmarks.bots``."""
