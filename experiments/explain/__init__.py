"""What a network sees in a position: the worth of each piece, its file and rank units, and the moves."""
