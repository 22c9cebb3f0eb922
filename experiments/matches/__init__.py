"""Matches in process: pairs of games between two players of this engine, counted in nodes, depth or playouts."""
