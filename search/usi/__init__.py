"""The USI protocol around an engine."""
