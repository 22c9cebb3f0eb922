"""Data files of any kind, records or notation: converted, freed of duplicates, described."""
