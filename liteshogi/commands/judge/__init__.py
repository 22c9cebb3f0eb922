"""Yardsticks of a search by a stronger engine's word, without games."""
