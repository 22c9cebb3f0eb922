"""Explanation of a network's evaluation: contributions of pieces, file and rank units, values after moves."""
