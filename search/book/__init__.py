"""Opening books: reading, choosing a move, and writing."""
