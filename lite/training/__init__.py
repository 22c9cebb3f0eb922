"""Targets, losses, the training loop, and testing."""
