"""Shogi itself: positions, moves, what ends a game, and how positions are written."""
