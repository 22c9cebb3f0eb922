"""Primitives that Numba lacks, for compiled code: bits, vectors, raw memory, a clock, random numbers."""
