"""Sweeps: nets trained over a space of configurations, measured alike."""
