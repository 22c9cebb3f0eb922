"""Texts for players in English and Japanese: one table per language."""
