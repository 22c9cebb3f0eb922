"""Tuning the numbers of the search by games against itself."""
