"""The alpha-beta engine."""
