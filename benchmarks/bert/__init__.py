"""Benchmark of the BERT bot: ``python -m benchmarks.bert``."""
