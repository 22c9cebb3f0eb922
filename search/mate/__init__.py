"""Mates by checks alone: in one move, by df-pn, and beside a search."""
