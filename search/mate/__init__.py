"""Mates by an unbroken series of checks: in one move, by df-pn, and beside a search."""
