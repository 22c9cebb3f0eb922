"""Nets made after a plan and measured alike."""
