"""Benchmarks, one file per kind."""
