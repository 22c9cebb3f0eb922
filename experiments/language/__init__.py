"""Texts for players in English and Japanese: one table per language, and a catalogue of other packages' messages."""
