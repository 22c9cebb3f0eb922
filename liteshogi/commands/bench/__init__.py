"""Measure: the search, where nothing else is named, and what lies around it."""
