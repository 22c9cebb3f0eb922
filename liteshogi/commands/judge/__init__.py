"""Measurements of a search by a stronger engine's scores."""
