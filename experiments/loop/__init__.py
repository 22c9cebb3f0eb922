"""Reinforcement: generations of a network that learns from its own games and searches."""
