"""The rules of shogi: positions, legal moves, ends of games, and notations of positions."""
