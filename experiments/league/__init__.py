"""Leagues: many players, a rating of each."""
