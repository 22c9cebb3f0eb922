"""Yardsticks of a search that need no games: what its moves lose by a stronger engine's word, and how sound it is."""
