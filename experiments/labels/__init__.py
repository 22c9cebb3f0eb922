"""Labels: the value that a position is given to learn, by a network, a search or another engine."""
