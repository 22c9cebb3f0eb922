"""Strength from results: Elo with its error, the sequential probability ratio test, ratings of many players."""
