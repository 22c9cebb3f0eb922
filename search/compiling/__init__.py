"""Compiling with Numba: decorators, the target CPU, and a cache that is never stale."""
