"""Primitives for compiled code that Numba lacks: bits, vectors, raw memory, a clock, random numbers."""
