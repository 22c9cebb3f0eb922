"""Measurements of a search without whole games: by a stronger engine's scores, and by its own consistency."""
